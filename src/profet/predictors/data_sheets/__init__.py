"""Machines that nobody profiled, from their data sheets."""
