"""Making a profile while a training loop runs: one module a framework, each importing only its own.

What runs beside the loop needs nothing but Python and the framework, so that it runs in whatever environment
trains; what it recorded becomes a profile in ``composing``, which may happen in another process.
"""
