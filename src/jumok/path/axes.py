"""The axes of every array, by name: one alias each, checked against real arrays in the test run.

Order is always head, query, key, width. ``...`` stands for leading axes (a batch, when training);
the record has none. The arrays may come from any library that follows the array API standard.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

Array: TypeAlias = Any

X = Annotated[Array, "... token d_model"]
Projection = Annotated[Array, "d_in d_out"]
Joined = Annotated[Array, "... token d_joined"]
Q = Annotated[Array, "... head query d_head"]
K = Annotated[Array, "... kv_head key d_head"]
V = Annotated[Array, "... kv_head key d_value"]
Scores = Annotated[Array, "... head query key"]
Scaled = Annotated[Array, "... head query key"]
Allowed = Annotated[Array, "... query key"]
Weights = Annotated[Array, "... head query key"]
WeightedValues = Annotated[Array, "... head query key d_value"]
Mixed = Annotated[Array, "... head query d_value"]
Output = Annotated[Array, "... query d_out"]
Positions = Annotated[Array, "position"]
Bias = Annotated[Array, "... bias_head query key"]
PositionCode = Annotated[Array, "token d_model"]
Sink = Annotated[Array, "head"]
