"""Speed, memory and scale, measured side by side in one run."""
