"""jumok (주목): self-attention with every number real, traceable and editable.

>>> import jumok
>>> trace = jumok.attend(jumok.load("student"))
>>> trace.rows("weights", queries=["studies"]).round(2).tolist()
[[[0.02, 0.2, 0.05, 0.55, 0.18]]]

Everything is loaded when it is first used, so that ``import jumok`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Cost",
    "Design",
    "Example",
    "Explanation",
    "History",
    "JumokError",
    "Learned",
    "Lesson",
    "Measured",
    "Picture",
    "Reading",
    "Rotary",
    "Rule",
    "Scaling",
    "Source",
    "Token",
    "Trace",
    "Verdict",
    "allowed",
    "attend",
    "capture",
    "check",
    "compare",
    "cost",
    "design",
    "design_values",
    "draw",
    "errors",
    "explain",
    "explain_step",
    "learn",
    "lesson",
    "load",
    "measure",
    "positions",
    "record",
    "scaling",
    "serve",
    "variants",
    "widget",
]

_HOME = {
    "Comparison": "measurement.comparison",
    "Cost": "variants.cost",
    "Design": "sources.design.designed",
    "Example": "sources.example",
    "Explanation": "explanation.explanation",
    "History": "history",
    "JumokError": "errors",
    "Learned": "sources.learn.learned",
    "Lesson": "lessons.lesson",
    "Measured": "measurement.running.measured",
    "Picture": "picture.drawing",
    "Reading": "trace",
    "Rotary": "path.positions",
    "Rule": "path.rule",
    "Scaling": "measurement.spread",
    "Source": "trace",
    "Token": "trace",
    "Trace": "trace",
    "Verdict": "lessons.checker.verdict",
    "attend": "verbs",
    "capture": "verbs",
    "check": "verbs",
    "compare": "verbs",
    "cost": "variants.cost",
    "design": "verbs",
    "design_values": "sources.design.values",
    "draw": "verbs",
    "explain": "explanation.explanation",
    "explain_step": "explanation.gradient",
    "learn": "verbs",
    "lesson": "verbs",
    "load": "verbs",
    "measure": "verbs",
    "record": "verbs",
    "scaling": "measurement.spread",
    "serve": "verbs",
    "widget": "verbs",
}
_MODULES = {
    "allowed": "path.allowed",
    "errors": "errors",
    "nn": "nn",
    "positions": "path.positions",
    "variants": "variants",
}

if TYPE_CHECKING:
    from . import errors as errors
    from . import nn as nn
    from . import variants as variants
    from .errors import JumokError as JumokError
    from .explanation.explanation import Explanation as Explanation
    from .explanation.explanation import explain as explain
    from .explanation.gradient import explain_step as explain_step
    from .history import History as History
    from .lessons.checker.verdict import Verdict as Verdict
    from .lessons.lesson import Lesson as Lesson
    from .measurement.comparison import Comparison as Comparison
    from .measurement.running.measured import Measured as Measured
    from .measurement.spread import Scaling as Scaling
    from .measurement.spread import scaling as scaling
    from .path import allowed as allowed
    from .path import positions as positions
    from .path.positions import Rotary as Rotary
    from .path.rule import Rule as Rule
    from .picture.drawing import Picture as Picture
    from .sources.design.designed import Design as Design
    from .sources.design.values import design_values as design_values
    from .sources.example import Example as Example
    from .sources.learn.learned import Learned as Learned
    from .trace import Reading as Reading
    from .trace import Source as Source
    from .trace import Token as Token
    from .trace import Trace as Trace
    from .variants.cost import Cost as Cost
    from .variants.cost import cost as cost
    from .verbs import attend as attend
    from .verbs import capture as capture
    from .verbs import check as check
    from .verbs import compare as compare
    from .verbs import design as design
    from .verbs import draw as draw
    from .verbs import learn as learn
    from .verbs import lesson as lesson
    from .verbs import load as load
    from .verbs import measure as measure
    from .verbs import record as record
    from .verbs import serve as serve
    from .verbs import widget as widget


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        value: Any = import_module(f"{__name__}.{_MODULES[name]}")
    elif name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    else:
        offered = ", ".join(__dir__())
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}. It offers: {offered}", name=name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "nn"])  # nn is not in __all__: a star import must work without PyTorch
