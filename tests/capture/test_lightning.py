"""The callback for Lightning, where Lightning is installed beside PyTorch."""

import warnings
from pathlib import Path

import pytest
import torch

from profet import read_profile
from tests.capture.conftest import SHORT, SHORT_STEPS
from tests.capture.loops import BATCH, PIXELS, small_cnn

pytestmark = pytest.mark.filterwarnings("ignore")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lightning = pytest.importorskip("lightning.pytorch", reason="needs Lightning: pip install lightning")


@pytest.mark.parametrize("accumulated", [1, 3])
def test_a_training_with_lightning_is_captured(tmp_path: Path, accumulated: int) -> None:
    from profet.capture.lightning import StepProfiler

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = small_cnn()

        def training_step(self, batch: list[torch.Tensor], index: int) -> torch.Tensor:
            return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.01)

    count = SHORT_STEPS * accumulated * BATCH
    data = torch.utils.data.TensorDataset(torch.rand(count, 3, PIXELS, PIXELS), torch.randint(4, (count,)))
    callback = StepProfiler(tmp_path / "p.json", instance="c5.large", **SHORT)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        devices=1,
        accumulate_grad_batches=accumulated,
        callbacks=[callback],
        enable_model_summary=False,
        **quiet,
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(data, BATCH))
    profile = read_profile(tmp_path / "p.json")
    assert (profile.batch_size, profile.pixels) == (accumulated * BATCH, PIXELS)
    assert profile.device_calls["aten::convolution"] == 2 * accumulated
    assert any(name.endswith("[optimizer]") for name in profile.device_us)
    assert profile.device_us["aten::convolution_backward"] > 0
