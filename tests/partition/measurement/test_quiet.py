"""A unit whose core is busy is warned of before it is measured."""

import os
import subprocess
import sys

import pytest

from profet.partition.measurement.quiet import busy_warning
from profet.partition.units import parse_unit

SPIN = "import os, sys\nos.sched_setaffinity(0, [int(sys.argv[1])])\nprint(flush=True)\nwhile True: pass"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cannot pin to a core here")
def test_a_busy_core_is_told_with_its_number():
    core = min(os.sched_getaffinity(0))
    with subprocess.Popen([sys.executable, "-c", SPIN, str(core)], stdout=subprocess.PIPE) as spinning:
        assert spinning.stdout is not None
        spinning.stdout.readline()
        try:
            warning = busy_warning(parse_unit(f"onnxruntime:cpu@{core}"))
        finally:
            spinning.kill()
    assert warning is not None
    assert f"core {core} is" in warning


def test_simulated_units_need_no_quiet_core():
    assert busy_warning(parse_unit("simulated:a")) is None
