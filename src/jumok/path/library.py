"""Which array library an array is of: NumPy itself for NumPy, the standard's names for all others."""

from __future__ import annotations

import sys
from typing import Any

from .axes import Array

__all__ = ["array_namespace"]


def array_namespace(*arrays: Array) -> Any:
    """The array API of these arrays' library.

    NumPy has the standard's names since 2.1; array-api-compat's copy of it would load numpy.f2py and
    numpy.testing too, which takes longer than NumPy itself.

    >>> import numpy
    >>> array_namespace(numpy.zeros(1)).__name__
    'numpy'

    Errors: ``TypeError`` where the arrays are of different libraries.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and all(type(array) is numpy.ndarray for array in arrays):
        return numpy
    from array_api_compat import array_namespace as of_others

    return of_others(*arrays)
