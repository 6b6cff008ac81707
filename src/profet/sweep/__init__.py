"""A zoo of networks trained and captured over batch sizes, input sizes and machines: a data set of one's own."""
