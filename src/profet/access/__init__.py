"""Who may use a service: keys, what they may do, how much at a time, and what was written with them."""
