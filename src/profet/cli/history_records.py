"""What commands take of what was recorded, and by which options one says so."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from profet.errors import InputError
from profet.names import suggest

if TYPE_CHECKING:
    from profet.datasets.dataset import Dataset
    from profet.history.measurement import Measurement

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

anchors_option: Decorator = click.option(
    "--anchor", "anchors", multiple=True, metavar="NAME", help="Repeatable; else all."
)
targets_option: Decorator = click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Repeatable; else all."
)
keys_option: Decorator = click.option(
    "--key", "keys", multiple=True, metavar="ID", help="Only what was sent to a service with this key. Repeatable."
)
from_store_option: Decorator = click.option(
    "--from-store",
    "from_store",
    is_flag=True,
    help="Also learn from what was recorded (profet record, or sent to a service).",
)


def records_of(
    place: str | None,
    anchors: Sequence[str] = (),
    targets: Sequence[str] = (),
    keys: Sequence[str] = (),
    profiles: bool = False,
) -> "list[Measurement]":
    """Return records of some anchors, targets and keys of a service.

    Raises:
        InputError: there are none at all, or none of a name that was given.
    """
    from profet.history.measurement import owner_of_key
    from profet.history.place import open_history

    with open_history(place) as kept:
        for option, names, known in (("--anchor", anchors, kept.anchors()), ("--target", targets, kept.targets())):
            for name in names:
                if name not in known:
                    raise InputError(f"{option} {name!r}: nothing is recorded of it; {suggest(name, known)}")
        found = kept.measurements(anchors, targets, profiles, [owner_of_key(each) for each in keys])
        if not found:
            raise InputError(f"{kept.where}: holds no such record yet; profet record keeps one")
    return found


def check_from_store(from_store: bool, place: str | None, keys: Sequence[str]) -> None:
    """Refuse to be told where records are, or whose, where none are to be taken.

    Raises:
        InputError: says which option is missing.
    """
    for option, given in (("--history", place is not None), ("--key", bool(keys))):
        if given and not from_store:
            raise InputError(f"{option}: say that what was recorded is to be learnt from with --from-store")


def recorded_dataset(
    place: str | None, target: str | None = None, keys: Sequence[str] = ()
) -> "tuple[Dataset, list[str]]":
    """Return records, of one target or of all, as a data set, and what was left out of it.

    Raises:
        InputError: there are none, or none of them can teach.
    """
    from profet.history.measurement import owner_of_key
    from profet.history.place import open_history
    from profet.history.teaching import as_dataset

    with open_history(place) as kept:
        owners = [owner_of_key(each) for each in keys]
        found = kept.measurements(targets=[target] if target else (), profiles=True, owners=owners)
        if not found:
            of = f" of {target}" if target else ""
            by = f" sent with {', '.join(keys)}" if keys else ""
            raise InputError(f"{kept.where}: holds no record{of}{by}; profet record keeps one")
    return as_dataset(found)
