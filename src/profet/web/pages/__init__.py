"""The pages: HTML made on the server, usable without a script, in the languages of ``texts/``."""
