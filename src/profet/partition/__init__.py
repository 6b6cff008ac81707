"""Splitting one inference batch over every unit of an unequal machine."""
