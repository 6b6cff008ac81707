"""Warnings: what makes a prediction less sure, with what to do, and wider intervals where it counts."""

import msgspec
import pytest

from profet import Bundle, Prediction, Profile, example_profile, predict

PYTORCH = {
    "Conv2D": "aten::cudnn_convolution",
    "_FusedConv2D": "aten::convolution",
    "Conv2DBackpropFilter": "aten::cudnn_convolution_backward_weight",
    "Conv2DBackpropInput": "aten::cudnn_convolution_backward_input",
    "FusedBatchNormV3": "aten::cudnn_batch_norm",
    "FusedBatchNormGradV3": "aten::cudnn_batch_norm_backward",
    "Relu": "aten::relu_",
    "ReluGrad": "aten::threshold_backward",
    "AddN": "aten::add_",
    "AddV2": "aten::add",
    "BiasAdd": "aten::bias_add",
}


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return Bundle.load()


def with_operations(device_us: dict[str, float]) -> Profile:
    return msgspec.structs.replace(example_profile(), warnings=[], device_us=device_us)


def renamed(names: dict[str, str]) -> Profile:
    return with_operations({names.get(name, name): time for name, time in example_profile().device_us.items()})


def relative_widths(prediction: Prediction) -> list[float]:
    learnt = (each for each in prediction.predictions if each.basis == "learnt")
    return [(each.high_ms or 0) / (each.low_ms or 1) for each in learnt]


def told(prediction: Prediction, words: str) -> list[str]:
    return [text for text in prediction.warnings if words in text]


def test_another_framework_is_said_and_widens_the_interval_but_not_the_answer(bundle: Bundle) -> None:
    usual, foreign = (
        predict(with_operations(example_profile().device_us), bundle),
        predict(renamed(PYTORCH), bundle),
    )
    assert usual.warnings == ()
    assert len(told(foreign, "the words of pytorch")) == 1
    assert "train on runs of yours" in told(foreign, "the words of pytorch")[0]
    for before, after in zip(usual.predictions, foreign.predictions, strict=True):
        assert after.latency_ms == pytest.approx(before.latency_ms, rel=0.02)
        assert after.card.widened
        assert not before.card.widened
        assert after.card.expected_log_error == pytest.approx(2 * before.card.expected_log_error, rel=0.1)
    pairs = zip(relative_widths(usual), relative_widths(foreign), strict=True)
    assert all(wide == pytest.approx(narrow**2, rel=0.1) for narrow, wide in pairs)


def test_the_framework_that_a_profile_states_counts_whatever_its_operations_are_called(bundle: Bundle) -> None:
    stated = msgspec.structs.replace(with_operations(example_profile().device_us), framework="pytorch")
    prediction = predict(stated, bundle)
    assert len(told(prediction, "the profile is one of pytorch; training runs came from tensorflow")) == 1
    assert all(each.card.widened for each in prediction.predictions)
    unknown = msgspec.structs.replace(stated, framework="unknown")
    assert predict(unknown, bundle).warnings == ()


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("volta_h884cudnn_256x64_ldg8_relu_exp_small_nhwc_tn_v1", "in half kernels"),
        ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc", "in tf32 kernels"),
    ],
)
def test_reduced_precision_is_said_with_its_share_and_widens(bundle: Bundle, kernel: str, words: str) -> None:
    prediction = predict(renamed({"_FusedConv2D": kernel, "Conv2D": kernel}), bundle)
    assert len(told(prediction, words)) == 1
    assert "profile in full precision" in told(prediction, words)[0]
    assert all(each.card.widened for each in prediction.predictions)


def test_attention_kernels_mean_that_it_is_no_cnn(bundle: Bundle) -> None:
    kernel = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Params)"
    prediction = predict(renamed({"Conv2DBackpropInput": kernel}), bundle)
    assert "this is no CNN" in told(prediction, "attention kernels")[0]
    assert all(each.card.widened for each in prediction.predictions)


def test_unseen_operations_are_said_with_their_share_and_what_they_are_taken_for(bundle: Bundle) -> None:
    device_us = dict(example_profile().device_us)
    device_us["DepthwiseConv2dNative"] = 0.25 / 0.75 * (sum(device_us.values()) - device_us["IDLE"])
    slower = msgspec.structs.replace(with_operations(device_us), step_latency_ms=263.5 / 0.75)
    warning = told(predict(slower, bundle), "no training run has")[0]
    assert warning.startswith("25.0 % of device time")
    assert "DepthwiseConv2dNative for depthwise" in warning
    assert "train on runs that have them" in warning


def test_a_step_longer_than_any_learnt_from_is_said_with_the_nearest_workloads(bundle: Bundle) -> None:
    longer = {name: 60 * time for name, time in example_profile().device_us.items()}
    profile = msgspec.structs.replace(with_operations(longer), step_latency_ms=60 * 263.5)
    prediction = predict(profile, bundle)
    warning = told(prediction, "outside what was learnt from")[0]
    assert "px, batch" in warning
    assert "profile a batch size whose step lies inside" in warning
    assert all(each.card.widened for each in prediction.predictions)


def test_work_unlike_any_learnt_from_is_said_with_the_nearest_workloads(bundle: Bundle) -> None:
    device_us = {"BiasAddGrad": 150_000.0, "MatMul": 100_000.0, "Transpose": 9_000.0, "IDLE": 5_000.0}
    prediction = predict(with_operations(device_us), bundle)
    assert "px, batch" in told(prediction, "unlike what was learnt from")[0]
    usual = predict(with_operations(example_profile().device_us), bundle)
    pairs = zip(relative_widths(usual), relative_widths(prediction), strict=True)
    assert all(wide > narrow**2 for narrow, wide in pairs)


def test_a_capture_without_optimizer_and_latency_is_said_to_be_cut_short(bundle: Bundle) -> None:
    device_us = {name: time for name, time in example_profile().device_us.items() if "Apply" not in name}
    cut = with_operations(device_us)
    unknown = msgspec.structs.replace(cut, step_latency_ms=None)
    assert "--anchor-latency" in told(predict(unknown, bundle), "no optimizer operation")[0]
    assert told(predict(cut, bundle), "no optimizer operation") == []


def test_a_capture_cut_short_is_said_and_widens(bundle: Bundle) -> None:
    cut = with_operations({name: 0.4 * time for name, time in example_profile().device_us.items()})
    prediction = predict(cut, bundle)
    assert len(told(prediction, "it was cut short")) == 1
    assert all(each.card.widened for each in prediction.predictions)


@pytest.mark.parametrize(("side", "name"), [("host_us", "GatherV2"), ("device_us", "IDLE")])
def test_waiting_times_beyond_any_step_do_not_decide_the_answer(bundle: Bundle, side: str, name: str) -> None:
    profile = with_operations(example_profile().device_us)
    wild = msgspec.structs.replace(profile, **{side: {**getattr(profile, side), name: 1e12}})
    for before, after in zip(predict(profile, bundle).predictions, predict(wild, bundle).predictions, strict=True):
        assert after.latency_ms < 8 * before.latency_ms


def test_a_name_of_many_characters_is_shortened_in_the_warning(bundle: Bundle) -> None:
    warning = told(predict(renamed({"Conv2DBackpropInput": "Q7" * 4000}), bundle), "no training run has")[0]
    assert len(warning) < 400


def test_a_level_that_the_calibration_does_not_support_gives_no_interval_and_says_why(bundle: Bundle) -> None:
    prediction = predict(example_profile(), bundle, interval=1 - 1e-12)
    assert [each.low_ms for each in prediction.predictions] == 4 * [None]
    assert "ask for less with --interval" in told(prediction, "held-out runs support at most")[0]


def test_each_warning_stands_once_however_many_targets_there_are(bundle: Bundle) -> None:
    prediction = predict(renamed(PYTORCH), bundle)
    assert len(prediction.predictions) == 4
    assert len(set(prediction.warnings)) == len(prediction.warnings) == 1
