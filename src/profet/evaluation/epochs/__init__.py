"""What timed epochs teach, and how wrong that is on models left out."""
