"""Captures a profile of a PyTorch training loop.

.. code-block::

    with profet.capture.torch.StepProfiler("profile.json", instance="g4dn.xlarge") as profiler:
        for batch in loader:
            train_step(batch)
            profiler.step()
"""

from profet.capture.torch.step_profiler import OptimizerStepProfiler, StepProfiler

__all__ = ["OptimizerStepProfiler", "StepProfiler"]
