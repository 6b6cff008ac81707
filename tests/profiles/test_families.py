"""Op families: what kind of work an operation is, in every vocabulary, and for names nobody has seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.datasets.dataset import Dataset
from profet.profiles.families import OpFamilies, op_families


@pytest.mark.parametrize(
    ("operation", "family"),
    [
        ("_FusedConv2D", "conv_forward"),
        ("Conv2DBackpropFilter", "conv_backward_filter"),
        ("DepthwiseConv2dNativeBackpropFilter", "depthwise_backward_filter"),
        ("ResourceApplyGradientDescent", "optimizer"),
        ("IDLE", "idle"),
        ("aten::cudnn_convolution_backward_input", "conv_backward_data"),
        ("aten::native_batch_norm_backward", "norm_backward"),
        ("aten::threshold_backward", "activation_backward"),
        ("aten::_foreach_add_", "optimizer"),
        ("__cudnn$convForward", "conv_forward"),
        ("loop fusion", "elementwise"),
        ("volta_scudnn_128x64_relu_interior_nn_v1", "conv_forward"),
        ("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)", "conv_backward_data"),
        ("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3>(int, int)", "conv_backward_filter"),
        ("void cudnn::winograd_nonfused::winogradWgradData4x4<float, float>()", "conv_backward_filter"),
        ("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)", "norm_backward"),
        ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>()", "norm_forward"),
        ("void at::native::(anonymous namespace)::max_pool_backward_nchw<float>(int)", "pool_backward"),
        ("volta_sgemm_128x32_nt", "matmul"),
        ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>()", "attention"),
        ("Memcpy HtoD (Pageable -> Device)", "copy"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float", "copy"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>()", "elementwise"),
        ("multi_tensor_apply_kernel", "optimizer"),
    ],
)
def test_an_operation_belongs_where_its_work_belongs(operation: str, family: str) -> None:
    assert op_families().families([operation]) == [family]


def test_a_misspelt_name_is_taken_for_the_one_it_was_meant_to_be() -> None:
    table = op_families()
    assert table.families(["Conv2DBackpropFiltre"]) == ["conv_backward_filter"]
    relatives = [table.place(name).relative for name in ("Conv2DBackpropFiltre", "volta_sgemm_128x32_nt", "Relu")]
    assert relatives == ["Conv2DBackpropFilter", None, None]


@pytest.mark.parametrize("operation", ["TILE", "FILE", "SIDE", "Idel", "idle_kernel_launcher"])
def test_work_nobody_knows_is_never_taken_for_waiting(operation: str) -> None:
    assert op_families().families([operation])[0] in op_families().device


@pytest.mark.parametrize(
    ("operation", "family"), [("copy.1", "copy"), ("fusion.17", "elementwise"), ("dot.3", "matmul")]
)
def test_numbered_instructions_are_known_by_their_name(operation: str, family: str) -> None:
    assert op_families().families([operation]) == [family]


def test_a_name_like_no_other_is_elementwise_work_and_said_to_be_guessed() -> None:
    placed = op_families().place("qqqq###zzzz")
    assert (placed.family, placed.relative, placed.guessed) == ("elementwise", None, True)


def test_the_public_operations_are_all_known_by_name(public_dataset: Dataset) -> None:
    assert set(public_dataset.device_us.columns) <= set(op_families().names)


@given(st.text(min_size=1, max_size=60))
def test_any_name_at_all_has_a_family(operation: str) -> None:
    table = op_families()
    assert table.families([operation])[0] in table.kinds


@pytest.mark.parametrize(
    ("kernel", "precision"),
    [
        ("volta_h884cudnn_256x64_ldg8_relu_exp_small_nhwc_tn_v1", "half"),
        ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16", "tf32"),
        ("turing_fp16_s1688cudnn_fp16_256x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1", "half"),
        ("ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_64x3_nn", "half"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<c10::BFloat16>>()", "half"),
        ("volta_scudnn_128x64_relu_interior_nn_v1", None),
        ("Conv2DBackpropInput", None),
    ],
)
def test_reduced_precision_is_seen_in_kernel_names(kernel: str, precision: str | None) -> None:
    assert op_families().place(kernel).precision == precision


def test_a_table_with_a_family_of_no_kind_is_refused() -> None:
    text = '[kinds]\na = "memory"\n[names.x]\nb = ["B"]\n[[patterns]]\nfamily = "a"\npattern = "p"\n'
    with pytest.raises(ValueError, match="without a kind: b"):
        OpFamilies.parse(text + '[[precisions]]\nname = "half"\npattern = "h"\n')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[kinds]\na = "memory"\n', "no 'names'"),
        ('[kinds]\na = "memory"\nb = "copy"\n[names.x]\na = ["A"]\nb = ["A"]\n', "'A' stands in a and in b"),
        ('[kinds]\na = "memory"\n[names.x]\na = []\n[[patterns]]\nfamily = "a"\npattern = "("\n', "no regular"),
    ],
)
def test_a_table_that_is_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        OpFamilies.parse(text)
