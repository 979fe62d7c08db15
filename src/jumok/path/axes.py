"""The axes of every array, by name: one alias each, checked against real arrays in the test run.

Order is always head, query, key, width. In one call an axis name has one size. ``...`` stands for
leading axes (a batch, when training); the record has none. ``*`` stands for an axis of several things
side by side (heads · d). ``kv_head`` divides ``head``; ``bias_head`` is ``head`` or 1.
The arrays may come from any library that follows the array API standard.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

Array: TypeAlias = Any

X = Annotated[Array, "... token d_model"]
PositionCode = Annotated[Array, "token d_model"]
Projection = Annotated[Array, "d_model *"]
Joined = Annotated[Array, "... token *"]
PerHead = Annotated[Array, "... any_head token d"]
Q = Annotated[Array, "... head query d_head"]
K = Annotated[Array, "... kv_head key d_head"]
V = Annotated[Array, "... kv_head key d_value"]
Queries = Annotated[Array, "query"]
Keys = Annotated[Array, "key"]
Bias = Annotated[Array, "bias_head query key"]
Sink = Annotated[Array, "head"]
Scores = Annotated[Array, "... head query key"]
Scaled = Annotated[Array, "... head query key"]
Allowed = Annotated[Array, "... query key"]
Weights = Annotated[Array, "... head query key"]
WeightedValues = Annotated[Array, "... head query key d_value"]
Mixed = Annotated[Array, "... head query d_value"]
OutProjection = Annotated[Array, "* d_out"]
OutBias = Annotated[Array, "d_out"]
Output = Annotated[Array, "... query d_out"]
