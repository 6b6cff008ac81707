"""Machines made up for tests of advice, the four known ones of the shipped predictors among them."""

import datetime
from collections.abc import Sequence

from profet.advice.advice import Advice, Demands
from profet.advice.advise import advise
from profet.advice.training_run import TrainingRun
from profet.instances.catalogue import Catalogue
from profet.instances.instance import Gpu, Instance, Price
from profet.profiles.example import example_profile

RUN = TrainingRun(1_280_000, 90, 16)
TODAY = datetime.date(2026, 11, 1)
T4 = Gpu(name="T4", compute_capability=7.5, fp32_tflops=8, bandwidth_gb_s=320, source="test")
V100 = Gpu(name="V100", compute_capability=7.0, fp32_tflops=14, bandwidth_gb_s=900, source="test")
M60 = Gpu(name="M60", compute_capability=5.2, fp32_tflops=4.8, bandwidth_gb_s=160, source="test")
K80 = Gpu(name="K80", compute_capability=3.7, fp32_tflops=4.4, bandwidth_gb_s=240, source="test")
TWICE = Gpu(name="TwiceV100", compute_capability=7.0, fp32_tflops=28, bandwidth_gb_s=1800, source="test")
BARE = Gpu(name="Bare", compute_capability=9.0, source="test")


def instance(name: str, gpu: str, price: float | None, gpus: float = 1, **more: str) -> Instance:
    prices = () if price is None else (Price(on_demand_per_hour=price, date="2026-10-01", source="test", **more),)
    return Instance(name=name, provider="test", gpu=gpu, gpu_count=gpus, prices=prices, source="test")


KNOWN = (
    instance("g3s.xlarge", "M60", 0.75),
    instance("g4dn.xlarge", "T4", 0.5),
    instance("p2.xlarge", "K80", 0.9),
    instance("p3.2xlarge", "V100", 3.0, region="here"),
)


def catalogue(*more: Instance, gpus: Sequence[Gpu] = ()) -> Catalogue:
    return Catalogue(
        gpus={gpu.name: gpu for gpu in (T4, V100, M60, K80, TWICE, BARE, *gpus)},
        instances={each.name: each for each in (*KNOWN, *more)},
        sources={},
    )


def example(
    demands: Demands | None = None, *more: Instance, run: TrainingRun = RUN, gpus: Sequence[Gpu] = ()
) -> Advice:
    return advise(example_profile(), run, demands, catalogue=catalogue(*more, gpus=gpus), today=TODAY)
