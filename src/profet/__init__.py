"""Which machine to train on, and how to split a batch: answers from one profile of a CNN.

The names below are the public ones; each is loaded when it is first used.

>>> import profet
>>> profile = profet.example_profile()
>>> [answer.target for answer in profet.predict(profile).predictions]
['g4dn.xlarge', 'g5.xlarge', 'p2.xlarge', 'p3.2xlarge']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from profet.advice.advice import Advice, Demands, Option
    from profet.advice.advise import advise
    from profet.advice.faster_gpu import FasterGpu
    from profet.advice.training_run import TrainingRun
    from profet.errors import ProfetError
    from profet.instances.catalogue import Catalogue
    from profet.instances.instance import Instance
    from profet.partition.execution.partitioner import Partitioner
    from profet.partition.execution.request_loop import OverloadedError, RequestLoop
    from profet.partition.execution.run_report import RunReport
    from profet.partition.planners import Plan, Planner, Share, Single, plan
    from profet.partition.tables import PerformanceTable, Point, UnitTable, load_table
    from profet.partition.training.batches import RankBatch, TrainingPlan, plan_training_batches
    from profet.partition.training.gradients import weight_gradients
    from profet.partition.training.sampler import UnequalBatchSampler
    from profet.predictors.bundle import Bundle
    from profet.predictors.card import AccuracyCard, FamilyTime, Prediction, TargetPrediction
    from profet.predictors.prediction import predict
    from profet.profiles.example import example_profile
    from profet.profiles.formats import read_file, read_profile
    from profet.profiles.profile import Profile
    from profet.profiles.reading import DeviceTimes, FamilyShare, Reading, ReadOptions, StepTimes

_HOME = {
    "AccuracyCard": "profet.predictors.card",
    "Advice": "profet.advice.advice",
    "Bundle": "profet.predictors.bundle",
    "Catalogue": "profet.instances.catalogue",
    "Demands": "profet.advice.advice",
    "DeviceTimes": "profet.profiles.reading",
    "FamilyShare": "profet.profiles.reading",
    "FamilyTime": "profet.predictors.card",
    "FasterGpu": "profet.advice.faster_gpu",
    "Instance": "profet.instances.instance",
    "Option": "profet.advice.advice",
    "OverloadedError": "profet.partition.execution.request_loop",
    "Partitioner": "profet.partition.execution.partitioner",
    "PerformanceTable": "profet.partition.tables",
    "Plan": "profet.partition.planners",
    "Planner": "profet.partition.planners",
    "Point": "profet.partition.tables",
    "Prediction": "profet.predictors.card",
    "ProfetError": "profet.errors",
    "Profile": "profet.profiles.profile",
    "RankBatch": "profet.partition.training.batches",
    "ReadOptions": "profet.profiles.reading",
    "Reading": "profet.profiles.reading",
    "RequestLoop": "profet.partition.execution.request_loop",
    "RunReport": "profet.partition.execution.run_report",
    "Share": "profet.partition.planners",
    "Single": "profet.partition.planners",
    "StepTimes": "profet.profiles.reading",
    "TargetPrediction": "profet.predictors.card",
    "TrainingPlan": "profet.partition.training.batches",
    "TrainingRun": "profet.advice.training_run",
    "UnequalBatchSampler": "profet.partition.training.sampler",
    "UnitTable": "profet.partition.tables",
    "advise": "profet.advice.advise",
    "example_profile": "profet.profiles.example",
    "load_table": "profet.partition.tables",
    "plan": "profet.partition.planners",
    "plan_training_batches": "profet.partition.training.batches",
    "predict": "profet.predictors.prediction",
    "read_file": "profet.profiles.formats",
    "read_profile": "profet.profiles.formats",
    "weight_gradients": "profet.partition.training.gradients",
}

__all__ = [
    "AccuracyCard",
    "Advice",
    "Bundle",
    "Catalogue",
    "Demands",
    "DeviceTimes",
    "FamilyShare",
    "FamilyTime",
    "FasterGpu",
    "Instance",
    "Option",
    "OverloadedError",
    "Partitioner",
    "PerformanceTable",
    "Plan",
    "Planner",
    "Point",
    "Prediction",
    "ProfetError",
    "Profile",
    "RankBatch",
    "ReadOptions",
    "Reading",
    "RequestLoop",
    "RunReport",
    "Share",
    "Single",
    "StepTimes",
    "TargetPrediction",
    "TrainingPlan",
    "TrainingRun",
    "UnequalBatchSampler",
    "UnitTable",
    "advise",
    "example_profile",
    "load_table",
    "plan",
    "plan_training_batches",
    "predict",
    "read_file",
    "read_profile",
    "weight_gradients",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'profet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
