"""Golden texts: small enough to review; a mismatch is written beside the original as ``-changed``."""

from pathlib import Path

HERE = Path(__file__).parent / "golden"


def same_as_golden(name: str, text: str) -> None:
    golden = HERE / name
    changed = golden.with_name(f"{golden.stem}-changed{golden.suffix}")
    if golden.exists() and golden.read_text(encoding="utf-8") == text:
        changed.unlink(missing_ok=True)
        return
    changed.write_text(text, encoding="utf-8")
    raise AssertionError(f"{golden} differs from what is printed now; see {changed.name}. If it is right, rename it.")
