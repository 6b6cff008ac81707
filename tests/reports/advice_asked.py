"""What is asked of the advice that the tests look at."""

import datetime

from profet.advice.advice import Demands
from profet.advice.training_run import TrainingRun

TODAY = datetime.date(2026, 2, 3)
IMAGENET = TrainingRun(1_281_167, 90, 16)
NOTHING = Demands()
BOTH = Demands(deadline_hours=240.0, budget=400.0)
IMPOSSIBLE = Demands(deadline_hours=1.0)
SEVERAL = Demands(budget=250.0, scaling=(0.8, 0.95), may_extrapolate=True)
ASKED = (NOTHING, BOTH, IMPOSSIBLE, SEVERAL)
