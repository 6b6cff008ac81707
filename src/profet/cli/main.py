"""The command ``profet``: puts the commands together and turns every mistake into one line."""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from profet.cli.advise import advise
from profet.cli.bundle import bundle
from profet.cli.convert import convert
from profet.cli.dataset import dataset
from profet.cli.example import example
from profet.cli.groups import InWorkflowOrder
from profet.cli.history import history
from profet.cli.instances import instances
from profet.cli.keys import keys
from profet.cli.onboard import onboard
from profet.cli.partition import partition
from profet.cli.predict import predict
from profet.cli.profile import profile
from profet.cli.record import record
from profet.cli.scale import scale
from profet.cli.serve import serve
from profet.cli.sweep import sweep
from profet.cli.train import train
from profet.cli.validate import validate
from profet.cli.validate_scaler import validate_scaler
from profet.errors import MissingExtraError, ProfetError
from profet.printable import one_line

USER_MUST_ACT = 2

_EXTRA_OF = {
    "alembic": "history",
    "fastapi": "web",
    "httpx": "train",
    "joblib": "train",
    "onnx": "partition",
    "onnxruntime": "partition",
    "openvino": "openvino",
    "pandas": "train",
    "prometheus_client": "web",
    "psutil": "partition",
    "pyarrow": "train",
    "python_multipart": "web",
    "ray": "ray",
    "scipy": "train",
    "sklearn": "train",
    "sqlalchemy": "history",
    "threadpoolctl": "train",
    "torch": "torch",
    "tvm": "tvm",
    "uvicorn": "web",
}


class _WithErrors(InWorkflowOrder):
    """Reports Ctrl-C, and a package that is not installed, as our own errors."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise ProfetError("interrupted; nothing was half-written") from None
        except ModuleNotFoundError as error:
            raise _missing_extra(error) from error


@click.group(cls=_WithErrors, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="profet-latency", prog_name="profet")
def cli() -> None:
    """Predict what a training step of a CNN costs on another GPU instance, from one profile.

    Start with:  profet example -o profile.json  and  profet predict profile.json
    """


for command in (
    example,
    predict,
    advise,
    scale,
    profile,
    convert,
    dataset,
    sweep,
    train,
    validate,
    validate_scaler,
    bundle,
    onboard,
    instances,
    record,
    history,
    partition,
    serve,
    keys,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; exit 0 done, 1 the answer is "no", 2 the user must change something."""
    _prepare_streams()
    try:
        code = cli.main(arguments, prog_name="profet", standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # click leaves like this when the reader of its output has gone
        _drop_stdout()
        code = 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = USER_MUST_ACT
    except click.ClickException as error:
        code = _fail(_usage(error))
    except (ProfetError, MemoryError) as error:
        code = _fail(str(error) or "out of memory; give a smaller input")
    except (KeyboardInterrupt, click.Abort):
        code = _fail("interrupted; nothing was half-written")
    except OSError as error:
        _drop_stdout()
        code = _fail(f"the system refused: {error.strerror or error}; nothing was half-written")
    sys.exit(code if isinstance(code, int) else 0)


def _prepare_streams() -> None:
    """Make sure that there are streams to print to, and that no character is beyond them."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the end)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the end)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(message: str) -> int:
    print(f"profet: {one_line(message)}", file=sys.stderr)  # noqa: T201
    return USER_MUST_ACT


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    return f"{error.format_message()}{hint}"


def _missing_extra(error: ModuleNotFoundError) -> ProfetError:
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRA_OF:
        return ProfetError(f"the installation is not whole: {error}; install it again")
    extra = _EXTRA_OF[package]
    return MissingExtraError(
        f"this command needs {package}, which the extra {extra!r} brings:"
        f" pip install 'profet-latency[{extra}]', or in a checkout: pip install '.[{extra}]'"
    )


def _drop_stdout() -> None:
    """Keep the interpreter from failing again while it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
