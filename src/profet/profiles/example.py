"""The profile that ships with the package, to try everything with."""

from importlib import resources

from profet.profiles.formats.json_documents import parse
from profet.profiles.profile import Profile

_NAME = "example_g3s.xlarge.json"


def example_profile() -> Profile:
    """Return one training step of a ResNet-50 on g3s.xlarge: medians over the repeats in the public PROFET data."""
    content = (resources.files("profet") / "data" / _NAME).read_bytes()
    return Profile.from_document(parse(content, _NAME), _NAME)
