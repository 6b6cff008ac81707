"""Which version of a package is installed, without importing it."""

from importlib import metadata


def installed_version(*packages: str) -> str | None:
    """Return the version of the first of some packages that is installed, or None."""
    for package in packages:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return None
