"""Catalogue of instances: what they have, and what an hour of them costs."""
