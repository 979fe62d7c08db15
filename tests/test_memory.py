"""What the machine says about its memory."""

from __future__ import annotations

from jumok import memory


def test_this_machine_tells(monkeypatch, tmp_path):
    there = memory.available()
    assert there is None or there > 10**6
    monkeypatch.setattr(memory, "Path", lambda _: tmp_path / "meminfo")
    assert memory.available() is None
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 7 kB\n")
    assert memory.available() == 7 * 1024
