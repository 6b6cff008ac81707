"""Times advice over many instances, warm; the goal is 500 in under 100 ms.

python -m benchmarks.advice
"""

import statistics
import time

import msgspec

from profet.advice.advice import Demands
from profet.advice.advise import advise
from profet.advice.training_run import TrainingRun
from profet.instances.catalogue import Catalogue
from profet.predictors.bundle import Bundle
from profet.profiles.example import example_profile

INSTANCES, REPEATS = 500, 15


def many_instances(count: int) -> Catalogue:
    """Return the shipped catalogue, its instances repeated under other names until there are so many."""
    shipped = Catalogue.load(None)
    instances = dict(shipped.instances)
    copies = 1
    while len(instances) < count:
        for name, instance in shipped.instances.items():
            if len(instances) < count:
                again = f"{name} again {copies}"
                instances[again] = msgspec.structs.replace(instance, name=again)
        copies += 1
    return Catalogue(gpus=shipped.gpus, instances=instances, sources=shipped.sources)


def advice_ms(demands: Demands) -> tuple[int, float]:
    """Return how many options there are, and the median time to advise on them, after one warm-up."""
    profile, run, bundle, catalogue = (
        example_profile(),
        TrainingRun(1_280_000, 90, 16),
        Bundle.load(),
        many_instances(INSTANCES),
    )
    times_ms, options = [], 0
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        options = len(advise(profile, run, demands, bundle=bundle, catalogue=catalogue).options)
        times_ms.append(1000 * (time.perf_counter() - start))
    return options, statistics.median(times_ms[1:])


def main() -> None:
    """Measure and print."""
    whole = Demands(deadline_hours=200, budget=500, scaling=(0.8, 0.95), may_extrapolate=True)
    for title, demands in (("single GPUs", Demands()), ("all, with deadline and budget", whole)):
        options, median_ms = advice_ms(demands)
        print(f"advice on {INSTANCES} instances, {title} ({options} options): {median_ms:.1f} ms (goal 100)")


if __name__ == "__main__":
    main()
