"""What was measured in one training run, and every file it can be read from."""
