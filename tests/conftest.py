"""What every test can use: the array libraries, and the axes check that runs along."""

from __future__ import annotations

from libraries import library as library
