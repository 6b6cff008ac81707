"""Builds one candidate of a search, in one of the search's processes."""

from typing import Any


def build_candidate(module: Any, target: Any, _parameters: Any) -> Any:
    """Compile a candidate: as TVM does, less the tensor instructions that a built schedule needs no more.

    TVM's own function parses those of every device in each process, which takes longer than all the rest.
    """
    import tvm
    from tvm.s_tir.transform import RemoveWeightLayoutRewriteBlock

    return tvm.driver.build(RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(module), target=target)
