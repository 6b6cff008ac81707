"""One file a version of the tables; what is in a release never changes again."""
