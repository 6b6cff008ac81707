"""Runtimes that run a network on a device: one file each, one protocol."""
