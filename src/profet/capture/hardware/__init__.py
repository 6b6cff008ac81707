"""What the hardware does while steps are timed: NVML where there is one, and the machine itself."""
