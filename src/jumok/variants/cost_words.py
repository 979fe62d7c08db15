"""What ``cost`` found, in sentences, and how large numbers, times and sizes are said, English and Korean side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..words import LANGS, fill, language

if TYPE_CHECKING:
    from .cost import Cost, CostRow, Growth

__all__ = ["amount", "duration", "growth_said", "notes", "reasons", "size", "text", "token_count", "why_said"]

PHRASES = {
    "measured": (
        "Measured with {backend:text} on {device:text}{threads:text}, single precision. A plain product of matrices reaches "
        "{peak:text} multiply-adds a second here.",
        "{backend:text}, {device:text}{threads:text}, 단정밀도로 측정했습니다. 이 기계에서 행렬 곱은 1초에 곱셈·덧셈을 {peak:text} 번까지 합니다.",
    ),
    "formula": (
        "By formula alone: nothing was measured.",
        "수식만으로 구했습니다. 측정한 것은 없습니다.",
    ),
    "growth": (
        "{variant:text}: time grows as n^{exponent:text} from n = {first:int} to {last:int} (its multiply-adds as n^{formula:text}, "
        "in theory n^{predicted:n}).",
        "{variant:text}: n = {first:int}에서 {last:int}까지 시간이 n의 {exponent:text}제곱으로 늘어납니다(곱셈·덧셈 수는 {formula:text}제곱, "
        "이론값 {predicted:n}제곱).",
    ),
    "few": (
        "{variants:text}: too few sizes to tell how time grows; at least three that take 1 ms or more are needed.",
        "{variants:text}: 시간이 얼마나 늘어나는지 알기에는 크기가 너무 적습니다. 1 ms 이상 걸리는 크기가 셋은 있어야 합니다.",
    ),
    "share": (
        "At n = {last:int} it takes {time:text}, {share:pct} of the speed of a plain product.",
        "n = {last:int}에서 {time:text}, 행렬 곱 속도의 {share:pct}입니다.",
    ),
    "overtakes": ("Faster than {other:text} from n ≈ {n:int} on.", "n ≈ {n:int}부터 {other:text}보다 빠릅니다."),
    "always": ("Faster than {other:text} at every n measured.", "측정한 모든 n에서 {other:text}보다 빠릅니다."),
    "predicted": (
        "What was not measured ({reasons:text}) is predicted: it grows with the formula from the largest n measured.",
        "측정하지 않은 것({reasons:text})은 측정한 가장 큰 n에서부터 수식대로 늘어난다고 보고 예측했습니다.",
    ),
    "busy": (
        "Something else kept the machine busy: the same run took up to {spread:text} times as long as another. Trust no small differences.",
        "다른 일로 기계가 바빴습니다. 같은 계산이 {spread:text}배까지 더 걸렸습니다. 작은 차이는 믿지 마십시오.",
    ),
    "unmasked": (
        "lowrank can follow no causal mask and is measured without one.",
        "lowrank는 인과 마스크를 따를 수 없어 마스크 없이 쟀습니다.",
    ),
    "memory": ("beyond the memory", "메모리 초과"),
    "budget": ("beyond the time budget", "시간 한도 초과"),
    "stopped": ("stopped before it", "그 전에 멈춤"),
    "threads": (", threads: {n:int}", ", 스레드 {n:int}개"),
}  # fmt: skip

BUSY, LONG_S = 1.5, 0.01  # runs this long differ by less on a machine that does nothing else
BUSY_SHORT = 4.0  # and shorter ones by less than this
DURATIONS = ((1e-3, 1e-6, "µs", "µs"), (1, 1e-3, "ms", "ms"), (120, 1, "s", "초"), (7200, 60, "min", "분"))
AMOUNTS = {
    "en": ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")),
    "ko": ((1e12, "조"), (1e8, "억"), (1e4, "만")),
}
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def say(name: str, lang: str, /, **data: Any) -> str:
    """A phrase in a language."""
    return fill(PHRASES[name][LANGS.index(lang)], data, lang)


def duration(seconds: float, lang: str = "en") -> str:
    """A time with two or three digits.

    >>> duration(0.00123), duration(75), duration(9000, "ko")
    ('1.23 ms', '75 s', '2.5시간')
    """
    for below, unit, en, ko in DURATIONS:
        if seconds < below:
            return _joined(seconds / unit, en if lang == "en" else ko, lang)
    return _joined(seconds / 3600, "h" if lang == "en" else "시간", lang)


def amount(value: float, lang: str = "en") -> str:
    """A large number in words, rounded.

    >>> amount(67108864), amount(67108864, "ko"), amount(2064512), amount(812)
    ('67.1 million', '6,711만', '2.06 million', '812')
    """
    for unit, word in AMOUNTS[lang]:
        if value >= unit:
            return f"{_digits(value / unit)}{' ' if lang == 'en' else ''}{word}"
    return f"{value:,.0f}"


def size(n_bytes: float) -> str:
    """A size in memory, rounded; 1 MB is a million bytes.

    >>> size(33554432), size(12)
    ('33.6 MB', '12 B')
    """
    for unit, word in SIZES:
        if n_bytes >= unit:
            return f"{_digits(n_bytes / unit)} {word}"
    return f"{n_bytes:.0f} B"


def token_count(n: float | None, least: int) -> str:
    """The n from which a variant is faster; ``≤`` where it was so from the smallest one on, – where it never was.

    >>> token_count(512.0, 512), token_count(1234.5, 512), token_count(None, 512)
    ('≤ 512', '1,200', '–')
    """
    if n is None:
        return "–"
    return f"≤ {least:,}" if n <= least else f"{_rounded(n):,}"


def why_said(why: str, lang: str) -> str:
    """Why something was not measured."""
    return say(why, lang)


def reasons(found: Cost) -> list[str]:
    """Why rows were not measured, each reason once."""
    return list(dict.fromkeys(row.why for row in found.rows if row.why is not None))


def text(found: Cost, lang: str) -> str:
    """The sentences of ``Cost.text``: what was measured, and how each variant grows."""
    first, *rest = notes(found, language(lang))
    grown = (growth_said(found, growth, lang) for growth in found.growth)
    return "\n".join([first, *filter(None, grown), *rest])


def notes(found: Cost, lang: str) -> list[str]:
    """What measured, and what to know about the numbers."""
    return list(_notes(found, lang))


def _notes(found: Cost, lang: str) -> Iterator[str]:
    if found.peak is None:
        yield say("formula", lang)
        return
    told = found.source
    threads = "" if told["n_threads"] is None else say("threads", lang, n=told["n_threads"])
    peak = amount(found.peak, lang)
    yield say("measured", lang, backend=told["backend"], device=told["device"], threads=threads, peak=peak)
    yield from _ways(found, lang)
    yield from (f"{name}: {why[lang]}" for name, why in found.refused.items())
    if any(name == "lowrank" for name in found.variants) and found.rule == "causal":
        yield say("unmasked", lang)
    if (spread := _busy(found)) is not None:
        yield say("busy", lang, spread=f"{spread:.1f}")
    if few := [growth.variant for growth in found.growth if growth.exponent is None and _last(found, growth.variant)]:
        yield say("few", lang, variants=", ".join(few))
    if why := reasons(found):
        yield say("predicted", lang, reasons=", ".join(why_said(one, lang) for one in why))


def _ways(found: Cost, lang: str) -> Iterator[str]:
    """Which lines computed the variants, those of the same way together."""
    together: dict[str, list[str]] = {}
    for name, way in found.routes.items():
        together.setdefault(way.text(lang), []).append(name)
    yield from (f"{', '.join(names)}: {way}" for way, names in together.items())


def _busy(found: Cost) -> float | None:
    """How many times as long as another the same run took, where that is more than chance makes of runs so long."""
    spreads = [(row.spread, BUSY if row.time_s > LONG_S else BUSY_SHORT)
               for row in found.rows if row.spread is not None and row.time_s]  # fmt: skip
    return max((spread for spread, most in spreads if spread > most), default=None)


def _last(found: Cost, variant: str) -> CostRow | None:
    """The largest n of a variant that was measured."""
    return next((row for row in reversed(found.of(variant)) if row.is_measured), None)


def growth_said(found: Cost, growth: Growth, lang: str) -> str:
    """One variant's growth, where it is known, its share of the peak and what it overtakes; "" where nothing was measured."""
    last = _last(found, growth.variant)
    if last is None or last.time_s is None:
        return ""
    parts = []
    if growth.exponent is not None and growth.by_formula is not None:
        parts.append(
            say("growth", lang, variant=growth.variant, exponent=f"{growth.exponent:.2f}", formula=f"{growth.by_formula:.2f}",
                predicted=growth.predicted, first=growth.points[0], last=growth.points[-1])
        )  # fmt: skip
    time, share = duration(last.time_s, lang), found.share_of_peak(last)
    name = "" if parts else f"{growth.variant}: "
    parts.append(name + say("share", lang, last=last.n, time=time, share=share))
    for other, n in growth.overtakes.items():
        if n is not None:
            name = "always" if n <= found.n[0] else "overtakes"
            parts.append(say(name, lang, other=other, n=_rounded(n)))
    return " ".join(parts)


def _digits(value: float) -> str:
    """Three digits, those before the point whole."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _rounded(n: float) -> int:
    """Two digits: where two curves cross is not known better."""
    return int(float(f"{n:.2g}"))


def _joined(value: float, unit: str, lang: str) -> str:
    return f"{_digits(value)}{' ' if lang == 'en' or unit in ('ms', 'µs') else ''}{unit}"
