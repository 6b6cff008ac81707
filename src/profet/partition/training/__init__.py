"""Unequal batches in data-parallel training: how large each rank's is to be, and what makes the gradients right."""
