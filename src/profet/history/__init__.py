"""What runs really took, beside what was predicted."""
