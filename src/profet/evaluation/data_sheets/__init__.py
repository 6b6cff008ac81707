"""How far off data sheets are: GPUs left out in turn."""
