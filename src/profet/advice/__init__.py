"""Time, cost and risk of a whole training run, on every instance that could be rented."""
