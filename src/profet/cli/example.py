"""``profet example``: the shipped profile, to try everything with."""

import click

from profet.cli.options import force_option


@click.command()
@click.option("-o", "--output", metavar="FILE", help="Where to write it; standard output by default.")
@force_option
def example(output: str | None, force: bool) -> None:
    """Write an example profile: one training step of ResNet-50 on g3s.xlarge.

    Its times are medians over the repeats in the public PROFET data set.
    """
    from profet.files import write_whole
    from profet.profiles.example import example_profile

    text = example_profile().to_json()
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text.encode(), force)
        click.echo(f"wrote {output}")
