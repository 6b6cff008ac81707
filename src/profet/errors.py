"""What can go wrong, as one tree: catch ProfetError to catch all of it."""


class ProfetError(Exception):
    """A mistake the user can mend; its text says what, where and what to do, in one line."""


class InputError(ProfetError):
    """An input (file, option or argument) cannot be used as it is."""


class OutputError(ProfetError):
    """A result could not be written; nothing half-written was left behind."""


class BundleError(ProfetError):
    """A bundle is damaged, is from a newer version, or lacks what was asked of it."""


class MissingExtraError(ProfetError):
    """A part of Profet that needs more than the plain install was asked for."""
