"""The service: a REST API and pages over HTTP; started by ``profet serve``."""
