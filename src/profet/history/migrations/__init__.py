"""How the tables of a store came to be: one file a version, run by profet.history.schema."""
