"""Epoch times: what they tell of steps, and what hardware metrics tell of them."""
