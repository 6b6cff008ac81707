"""Options that several commands share, so that the same word means the same everywhere."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from profet.quantities import parse_latency_ms

if TYPE_CHECKING:
    from profet.profiles.reading import ReadOptions

T = TypeVar("T")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class LatencyMs(click.ParamType[float]):
    """A latency such as 323ms, 0.323s or 322600us; a bare number is milliseconds."""

    name = "latency"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ARG002
        """Return milliseconds."""
        what = param.opts[0] if param else "latency"
        return value if isinstance(value, float) else parse_latency_ms(str(value), what)


class Parsed(click.ParamType[T]):
    """A quantity that a function of profet.quantities reads, such as 24h or 1.28M."""

    def __init__(self, name: str, parse: Callable[[str, str], T]):
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:  # noqa: ARG002
        """Return the quantity."""
        what = param.opts[0] if param else self.name
        return self._parse(value, what) if isinstance(value, str) else value


class NumberRange(click.FloatRange):
    """A number between bounds that is one: neither infinite nor NaN, which is within all bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no number; write one such as 0.5", param, ctx)
        return number


class Chance(click.ParamType[float]):
    """A chance between 0 and 1, such as 0.9."""

    name = "chance"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the chance; a percentage is met with what was meant."""
        try:
            chance = float(value)
        except ValueError:
            chance = math.nan
        if 0 < chance < 1:
            return chance
        percent = str(value).strip().removesuffix("%").strip()
        meant = f"; did you mean {float(percent) / 100:g}?" if percent.isdigit() and 1 < int(percent) < 100 else ""
        raise click.BadParameter(f"{value} is no chance between 0 and 1, such as 0.9{meant}", ctx, param)


def read_options(
    steps: int | None, step_latency_ms: float | None, gpu: int | None, leave_out_steps: str, rules_path: str | None
) -> "ReadOptions":
    """Collect what the options of a command say about the file it reads."""
    from profet.profiles.family_rules import read_rules
    from profet.profiles.reading import ReadOptions

    left_out = tuple(label.strip() for label in leave_out_steps.split(",") if label.strip())
    families = None if rules_path is None else read_rules(rules_path)
    return ReadOptions(steps, step_latency_ms, gpu, left_out, families)


json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
force_option: Decorator = click.option("--force", is_flag=True, help="Overwrite existing output.")
report_option: Decorator = click.option(
    "--report",
    metavar="FILE",
    help="Also save a report: .html (one page, opens offline), .json or .csv.",
)
plot_option: Decorator = click.option("--plot", metavar="FILE", help="Also save a picture (.png, .svg or .pdf).")
catalogue_option: Decorator = click.option(
    "--catalogue",
    "catalogue_path",
    metavar="FILE",
    help="Your own instances; instances.json in your data folder by default.",
)
bundle_option: Decorator = click.option(
    "--bundle", "bundle_path", metavar="FILE", help="Trained predictors; the shipped ones by default."
)
steps_option: Decorator = click.option(
    "--steps", type=int, metavar="N", help="Training steps the capture covers, where it does not tell."
)
gpu_option: Decorator = click.option(
    "--gpu", type=click.IntRange(0), metavar="N", help="GPU to read from a trace of several; else the busiest."
)
leave_out_steps_option: Decorator = click.option(
    "--leave-out-steps", metavar="A,B", default="", help="Steps of a trace that are not to count."
)
rules_option: Decorator = click.option(
    "--rules", "rules_path", metavar="FILE", help="Op families of operations and kernels of your own (TOML)."
)
method_option: Decorator = click.option(
    "--method", metavar="NAME", default=None, help="Prediction method: blend (ours), published or hardware-metrics."
)
interval_option: Decorator = click.option(
    "--interval",
    type=Chance(),
    default=0.9,
    show_default=True,
    help="Chance that low to high holds.",
)
checkpoint_option: Decorator = click.option(
    "--checkpoint", metavar="DIR", help="Keep finished folds here; the same command continues where it stopped."
)
seed_option: Decorator = click.option(
    "--seed",
    type=click.IntRange(0, 2**31),
    default=0,
    show_default=True,
    help="The same seed gives the same numbers.",
)
families_option: Decorator = click.option(
    "--families",
    "families_path",
    metavar="FILE",
    help="Model families by prefix (TOML); a shipped table by default.",
)
history_option: Decorator = click.option(
    "--history",
    "history_place",
    metavar="FILE",
    help="What was recorded: a file or a database's URL; history.sqlite in your data folder by default.",
)
table_option: Decorator = click.option(
    "--table",
    "source",
    metavar="TABLE",
    required=True,
    help="A performance table: a file, or the name of a network measured here.",
)
