"""Where kernels belong, by names as cuDNN, cuBLAS, CUTLASS, PyTorch, TensorFlow, XLA and Inductor write them."""

import pytest

from profet.profiles.families import op_families

KERNELS = {
    "conv_forward": """
        volta_scudnn_128x64_relu_interior_nn_v1
        void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, false, true>
        sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nchw_tilesize128x128x8
        cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x4_nhwc_align8>
        void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>
        volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1
        void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, float>
        cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)
        cask__5x_cudnn::computeOffsetsKernel(cask__5x_cudnn::ComputeOffsetsParams)
        volta_gcgemm_32x32_nt
        void DSE::vector_fft<0, 1, 128, 8, 8, 1, float, float, float2>
        void DSE::regular_fft_pad<0, 1, 128, 16, 32, 1, float, float, float2>
        void flip_filter<float, float>(float*, float const*, int, int, int, int)
        triton_tem_fused_convolution_4
    """,
    "conv_backward_data": """
        void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>
        sm80_xmma_dgrad_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nchw
        volta_scudnn_128x64_stridedB_interior_nn_v1
        void cudnn::cnn::dgrad2d_alg1_1<float, 0, 6, 7, 5, 4, 5, false, true>
        cask_cudnn::computeBOffsetsKernel(cask_cudnn::ComputeBOffsetsParams)
    """,
    "conv_backward_filter": """
        void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>
        sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc
        volta_scudnn_128x128_stridedB_splitK_medium_nn_v1
        void cudnn::winograd_nonfused::winogradWgradData4x4<float, float>
        cask_cudnn::computeWgradSplitKOffsetsKernel(cask_cudnn::ComputeSplitKOffsetsParams)
    """,
    "depthwise": """
        void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>
        void cudnn::cnn::conv2d_c1_k1_nhwc_kernel<float, float, float, float, float, 3, 1, 8, 3, 2>
        void cudnn::cnn::dgrad2d_c1_k1_nhwc_kernel<float, 3, 5, 1>
        void tensorflow::DepthwiseConv2dGPUKernelNHWC<float, 3, 3, 1, false>
    """,
    "depthwise_backward_filter": """
        void at::native::(anonymous namespace)::conv_depthwise2d_grad_weight_kernel<float, unsigned int>
        void cudnn::cnn::wgrad2d_c1_k1_nhwc_kernel<float, float, 3, 3>
    """,
    "matmul": """
        volta_sgemm_128x64_tn
        ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_64x3_nn
        void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x2_nn_align8>
        nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTT
        void gemmk1_kernel<int, float, 256, 5, true, cublasGemvTensorStridedBatched<float const>>
        void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, cublasGemvParamsEx>
        void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<float const>>>
        Cijk_Ailk_Bljk_HB_MT128x128x16_SE_K1
        triton_tem_fused_mm_7
    """,
    "norm_forward": """
        void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>
        void at::native::batch_norm_collect_statistics_kernel<at::native::InvStd, float, float, float, int>
        void cudnn::ops::bnFwdKernel<float>
        void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>
        triton_per_fused__native_batch_norm_legit_functional_3
    """,
    "norm_backward": """
        void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>
        void cudnn::batchnorm_bwtr_nhwc_semiPersist<__half, float, float, 512, true, 1>
        void at::native::batch_norm_backward_elemt_kernel<float, float, float, int>
        void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float>
        triton_poi_fused_add_convolution_backward_native_batch_norm_backward_threshold_backward_5
    """,
    "pool_forward": """
        void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>
        void cudnn::pooling_fw_4d_kernel<float, float, cudnn::maxpooling_func<float>>
        void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>>>
    """,
    "pool_backward": """
        void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>
        void at::native::(anonymous namespace)::atomic_adaptive_average_gradinput<float>
        void cudnn::pooling_bw_kernel_max<float, float>
    """,
    "activation_forward": """
        void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::launch_clamp_scalar>
        void op_generic_tensor_kernel<2, float, float, float, 256, 1, 8, 2, 1, 1>
        triton_poi_fused_relu_0
        triton_poi_fused_convolution_relu_1
    """,
    "activation_backward": """
        void at::native::vectorized_elementwise_kernel<4, at::native::threshold_kernel_impl<float>>
        void cudnn::ops::activation_bw_4d_kernel<float, float, 128, 1, 4, cudnn::ops::relu_func<float>>
    """,
    "bias_forward": """
        void tensorflow::BiasNHWCKernel<float>(int, float const*, float const*, float*, int)
        void add_tensor_kernel_v3<2, float, float, 128, 1, 1, 4, 2>
    """,
    "bias_backward": """
        void tensorflow::BiasGradNHWC_SharedAtomics<float>
        void tensorflow::functor::RowReduceKernel<float const*, float*, cub::Sum>
        void at::native::(anonymous namespace)::convolution_backward_bias_kernel<float>
        triton_red_fused_sum_5
    """,
    "data_movement": """
        void cudnn::ops::nchwToNhwcKernel<float, float, float, true, false>
        void cudnn::ops::nchwToFoldedNhwcKernel<__half, __half, float, true, 0>
        void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 4, 64, 64>
        void tensorflow::functor::SwapDimension1And2InTensor3UsingTiles<unsigned int, 1024, 32, 32, false>
        void tensorflow::functor::ShuffleInTensor3Simple<float, 2, 1, 0, false>
        Memcpy DtoD (Device -> Device)
        [CUDA memcpy DtoD]
        triton_poi_fused_convolution_3
    """,
    "optimizer": """
        void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::TensorListMetadata<2>>
        void at::native::vectorized_elementwise_kernel<4, at::native::addcdiv_cuda_kernel>
        void tensorflow::functor::ApplyGradientDescentKernel<float>
        triton_for_fused_0
    """,
    "loss": """
        void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true, false>
        void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>
        void cunn_ClassNLLCriterion_updateOutput_kernel<float, float>
        void tensorflow::GenerateNormalizedProb<float, float, 4>
        triton_poi_fused__log_softmax_backward_data_nll_loss_backward_0
    """,
    "elementwise": """
        void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>
        void cudnn::ops::scalePackedTensor_kernel<float, float>
        void cudnn::ops::convertTensor_kernel<float, __half, float, (cudnnKernelDataType_t)0>
        void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp>>
        Memset (Device)
        triton_poi_fused_add_12
    """,
    "copy": """
        Memcpy HtoD (Pinned -> Device)
        [CUDA memcpy DtoH]
        MemcpyD2H
        ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)
    """,
    "attention": """
        void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>
        cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_6_128x128x64
    """,
}

OPERATIONS = {
    "conv_backward_data": ["cudnn-conv-bw-input", "Conv2DBackpropInput", "aten::cudnn_convolution_backward_input"],
    "conv_backward_filter": ["cudnn-conv-bw-filter", "Conv2DBackpropFilter", "_MklNativeConv2DBackpropFilter"],
    "conv_forward": [
        "cudnn-conv-bias-activation",
        "_FusedConv2D",
        "aten::conv_transpose2d",
        "conv_general_dilated",
    ],
    "pool_backward": ["select-and-scatter", "select_and_scatter_fusion", "MaxPoolGrad"],
    "bookkeeping": ["aten::view", "aten::empty_strided", "aten::movedim", "ReadVariableOp"],
    "norm_backward": ["aten::native_batch_norm_backward", "FusedBatchNormGradV3"],
    "optimizer": ["aten::_foreach_addcdiv_", "aten::_fused_adamw_", "ResourceApplyMomentum"],
}


@pytest.mark.parametrize(
    ("family", "kernel"),
    [(family, name.strip()) for family, names in KERNELS.items() for name in names.strip().splitlines()],
)
def test_a_kernel_belongs_where_its_name_says(family: str, kernel: str) -> None:
    placed = op_families().place_kernel(kernel)
    assert (placed.family, placed.guessed) == (family, False)


@pytest.mark.parametrize(
    ("family", "operation"), [(family, name) for family, names in OPERATIONS.items() for name in names]
)
def test_an_operation_belongs_where_its_name_says(family: str, operation: str) -> None:
    placed = op_families().place(operation)
    assert (placed.family, placed.guessed) == (family, False)
