"""What a measurement tells while it goes on."""

from profet.partition.tables import Point
from profet.partition.units import Unit


class Listener:
    """Hears what happens and does nothing; commands listen with one that prints."""

    def starts(self, unit: Unit, sizes: int | None) -> None:
        """A unit is measured now; sizes are still to come, None where nobody knows how many."""

    def measured(self, unit: Unit, point: Point) -> None:
        """A size was measured and saved."""

    def note(self, text: str) -> None:
        """Say what the user may want to know, such as that a measurement goes on where it stopped."""

    def warn(self, text: str) -> None:
        """Say what the user should know, such as that a unit is broken."""
