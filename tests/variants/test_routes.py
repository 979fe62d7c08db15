"""Which lines compute a variant: told before, true of what then runs, in both languages."""

from __future__ import annotations

import importlib
import string
from typing import Any

import numpy as np
import pytest
import torch

from cases import drawn
from jumok import Rule, allowed, positions, variants
from jumok.errors import TooLargeError, UnknownName
from jumok.variants import routes
from jumok.variants.asked import Asked
from libraries import LIBRARIES

ALIBI = Rule(bias=positions.alibi([0.5, 0.1]))
TABLE = Rule(allowed=np.tri(9, dtype=bool))
BY_BATCH = allowed.padding(np.ones((1, 9), bool))
ROUTES = [
    ("torch", "flash", None, {}, "sdpa", None),
    ("torch", "flash", "causal", {}, "sdpa", None),
    ("torch", "flash", allowed.window(99), {}, "sdpa", None),
    ("torch", "flash", allowed.causal(2), {}, "recomputed", "rule"),
    ("torch", "flash", allowed.window(3), {}, "recomputed", "rule"),
    ("torch", "flash", TABLE, {}, "recomputed", "rule"),
    ("torch", "flash", ALIBI, {}, "recomputed", "rule"),
    ("torch", "flash", "causal", {"return_lse": True}, "recomputed", "lse"),
    ("torch", "flash", "causal", {"fast": False}, "reference", "asked"),
    ("torch", "window", allowed.window(3), {}, "strided tiles", None),
    ("torch", "window", None, {"n_back": 3}, "strided tiles", None),
    ("torch", "window", allowed.window(99), {}, "sdpa", None),
    ("torch", "window", allowed.window(3, 0, 99), {}, "reference", "nothing"),
    ("torch", "window", ALIBI, {"n_back": 3}, "reference", "bias"),
    ("torch", "window", Rule(softcap=2.0), {"n_back": 3}, "reference", "softcap"),
    ("torch", "window", Rule(sink=[0.0, 1.0]), {"n_back": 3}, "reference", "sink"),
    ("torch", "window", TABLE, {"n_back": 3}, "reference", "mask"),
    ("torch", "window", allowed.window(3), {"fast": False}, "reference", "asked"),
    ("torch", "sparse", None, {"flex": True}, "flex", None),
    ("torch", "sparse", None, {}, "reference", "no flex"),
    ("torch", "sparse", ALIBI, {}, "reference", "only way"),
    ("torch", "sparse", None, {"pattern": variants.patterns.top_k(2)}, "reference", "only way"),
    ("numpy", "sparse", None, {}, "reference", "only way"),
    ("numpy", "flash", None, {}, "threads", None),
    ("numpy", "flash", TABLE, {}, "threads", None),
    ("numpy", "flash", ALIBI, {}, "reference", "bias"),
    ("numpy", "flash", Rule(softcap=2.0), {}, "reference", "softcap"),
    ("numpy", "flash", Rule(allowed=BY_BATCH), {}, "reference", "batch"),
    ("numpy", "window", allowed.window(3), {}, "reference", "library"),
    ("strict", "flash", None, {}, "reference", "library"),
    ("strict", "full", None, {}, "reference", "only way"),
    ("numpy", "linear", "causal", {}, "reference", "only way"),
    ("numpy", "lowrank", None, {}, "reference", "only way"),
]


def given(library: str) -> list[Any]:
    return [LIBRARIES[library].array(drawn(2, 9, 4, seed=at)) for at in range(3)]


@pytest.mark.parametrize(("library", "variant", "rule", "options", "name", "why"), ROUTES)
def test_the_way_that_is_told(library: str, variant: str, rule: Any, options: Any, name: str, why: Any) -> None:
    told = variants.route(*given(library), rule, variant, **options)
    assert (told.name, told.why) == (name, why)
    for lang in ("en", "ko"):
        assert told.text(lang).endswith(".")
        assert "{" not in told.text(lang)


WAYS = {"sdpa": "fused", "recomputed": "recomputed", "strided tiles": "strided_tiles", "threads": "flash"}


@pytest.mark.parametrize(
    ("library", "variant", "rule", "options", "name"),
    [route[:5] for route in ROUTES if route[4] in WAYS],
)
def test_the_way_that_is_told_is_the_way_that_is_taken(
    library: str, variant: str, rule: Any, options: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, functions in (("fast_torch", ("fused", "recomputed", "strided_tiles")), ("fast_numpy", ("flash",))):
        fast = importlib.import_module(f"jumok.variants.{module}")
        for function in functions:
            monkeypatch.setattr(fast, function, lambda *_, function=function: pytest.fail(function))
    with pytest.raises(pytest.fail.Exception, match=f"^{WAYS[name]}$"):
        getattr(variants, variant)(*given(library), rule, **options)


def test_a_window_with_alibi_goes_the_reference_way_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays, taken = given("torch"), []
    window = importlib.import_module("jumok.variants.window")
    reference = window.window_reference
    monkeypatch.setattr(window, "window_reference", lambda *each: taken.append(each) or reference(*each))
    got = variants.window(*arrays, ALIBI, n_back=3)
    assert len(taken) == 1
    torch.testing.assert_close(got, variants.full(*arrays, Rule(bias=ALIBI.bias, allowed=allowed.window(3))))
    told = variants.route(*arrays, ALIBI, "window", n_back=3)
    assert str(told) == "jumok's own lines: the faster way knows no position bias, such as ALiBi."
    assert told.text("ko") == "jumok의 코드 그대로 구합니다. 더 빠른 방법은 ALiBi 같은 위치 편향을 알지 못합니다."


def test_numbers_of_the_tiles_are_told() -> None:
    told = variants.route(*given("torch"), allowed.window(3), "window", tile=4)
    assert dict(told.numbers) == {"tile": 4, "n_keys": 7}
    assert "each 4 queries with the 7 keys" in str(told)
    assert "쿼리 4개마다 그 둘레의 키 7개" in told.text("ko")


def test_every_sentence_has_the_same_numbers_in_both_languages() -> None:
    for en, ko in [*routes.REASONS.values(), *routes.WHYS.values()]:
        fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (en, ko)]
        assert fields[0] == fields[1]


def test_a_variant_that_is_not_known_is_refused() -> None:
    with pytest.raises(
        UnknownName, match="variant expects one of full, flash, window, sparse, linear, lowrank"
    ) as told:
        variants.route(*given("numpy"), variant="fast")
    assert "필요한데" in told.value.ko


def test_the_functions_stand_where_modules_have_their_names() -> None:
    for name in ("flash", "full", "linear", "lowrank", "sparse", "window"):
        importlib.import_module(f"jumok.variants.{name}")
        assert callable(getattr(variants, name))


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")  # benchmarks/variants.py compiles it
def test_flex_attention_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mask, scale and shared heads, by PyTorch's own lines; that its compiler is asked."""
    asked = []
    monkeypatch.setattr(torch, "compile", lambda function, **options: asked.append(options) or function)
    q, k, v = (torch.from_numpy(drawn(h, 128, 16, seed=h)).float() for h in (4, 2, 2))
    rule = Rule(0.3, variants.patterns.streaming(n_sink=4, n_back=16))
    got = variants.sparse(q, k, v, rule, flex=True)
    torch.testing.assert_close(got, variants.full(q, k, v, rule), rtol=2e-5, atol=2e-5)
    assert asked[0] == {"dynamic": False}


def test_flex_attention_is_refused_before_its_table_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    fast_torch = importlib.import_module("jumok.variants.fast_torch")
    q, k, v = (torch.zeros(1, 64, 16) for _ in range(3))
    needed = fast_torch.FLEX_BYTES * 64 * 64
    monkeypatch.setattr(fast_torch, "free_bytes", lambda _: needed - 1)
    monkeypatch.setattr(Asked, "positions", lambda *_: pytest.fail("the table is made"))
    monkeypatch.setattr(Asked, "by_batch", False)
    with pytest.raises(
        TooLargeError, match=r"a table of all pairs, which takes 0\.0 GB for 64 queries and 64 keys"
    ) as told:
        variants.sparse(q, k, v, flex=True)
    assert told.value.bytes_needed == needed
    assert "flex를 빼십시오" in told.value.ko
