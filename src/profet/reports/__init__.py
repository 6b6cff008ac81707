"""Tables and pictures of results, for command line and pages alike."""
