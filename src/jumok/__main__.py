"""``python -m jumok`` and the ``jumok`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without the extra ``cli``, say how to install it."""
    try:
        from .cli import run
    except ImportError as error:
        from .errors import MissingExtra

        if error.name not in ("click", "rich"):
            raise
        missing = MissingExtra(extra="cli", package=error.name)
        print(f"jumok: {missing.en}\njumok: {missing.ko}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
