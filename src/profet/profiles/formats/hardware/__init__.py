"""CSV files of hardware metrics."""
