"""What a reader of a capture should know beside the numbers, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Note"]


@dataclass(frozen=True)
class Note:
    """Something that was done, or left out, that nobody would see in the numbers."""

    en: str
    ko: str

    def to_json(self) -> dict[str, str]:
        """Both languages, as they stand in a record's source."""
        return {"en": self.en, "ko": self.ko}
