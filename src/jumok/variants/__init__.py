"""Other ways from q, k and v to the mixed values: the same result for less, or nearly the same for much less.

Each is ``(q, k, v, rule=None, **options) → mixed`` on any array library of the array API standard. ``full``, ``flash``,
``window`` and ``sparse`` are exact; ``linear`` and ``lowrank`` are other functions, near full attention at best.

>>> import numpy as np
>>> one = np.array([[[0.0], [1.0], [2.0]]])
>>> bool(np.allclose(flash(one, one, one, "causal"), full(one, one, one, "causal")))
True
"""

from __future__ import annotations

from ..path import patterns as patterns
from . import error as _error  # the modules first, so that the functions of the same names stand
from . import flash as _flash
from . import full as _full
from . import linear as _linear
from . import lowrank as _lowrank
from . import sparse as _sparse
from . import window as _window
from .cost_heads import WindowHeads as WindowHeads
from .cost_heads import window_heads as window_heads
from .error import Loss as Loss
from .routes import Route as Route
from .routes import route as route
from .steps import flash_steps as flash_steps
from .steps import linear_steps as linear_steps

__all__ = [
    "Loss", "Route", "WindowHeads", "error", "flash", "flash_steps", "full", "linear", "linear_steps", "lowrank", "patterns",
    "route", "sparse", "window", "window_heads",
]  # fmt: skip

error = _error.error
flash = _flash.flash
full = _full.full
linear = _linear.linear
lowrank = _lowrank.lowrank
sparse = _sparse.sparse
window = _window.window
