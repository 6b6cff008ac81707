"""How wrong other sizes are on models left out."""
