"""Other batch and input sizes than the profiled one."""
