"""From a profile on the anchor to the step latency on a target."""
