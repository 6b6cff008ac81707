"""Which machine to train on, and how to split a batch: answers from one profile of a CNN.

>>> import profet
>>> profile = profet.example_profile()
>>> [p.target for p in profet.predict(profile).predictions]
['g4dn.xlarge', 'p2.xlarge', 'p3.2xlarge']
"""

from profet.errors import ProfetError
from profet.examples import example_profile
from profet.predictors.bundle import Bundle
from profet.predictors.prediction import Prediction, TargetPrediction, predict
from profet.profiles.formats import ReadOptions, read_profile
from profet.profiles.profile import Profile

__all__ = [
    "Bundle",
    "Prediction",
    "ProfetError",
    "Profile",
    "ReadOptions",
    "TargetPrediction",
    "example_profile",
    "predict",
    "read_profile",
]
