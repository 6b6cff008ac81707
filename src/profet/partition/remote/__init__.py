"""Units on other machines, which a Ray cluster joins: an actor on a node does what a process does here."""
