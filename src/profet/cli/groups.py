"""A group of commands that lists them in the order in which one uses them."""

import click


class InWorkflowOrder(click.Group):
    """Lists commands as they were added, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)
