"""Many profiles and latencies: the data set, the public ones, and how to divide them fairly."""
