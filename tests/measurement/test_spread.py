"""The spread of q · k: against theory, against loops a beginner can read, and against torch's Jacobian."""

from __future__ import annotations

import json
import math
import re
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, TooLargeError, UnknownName
from jumok.measurement import spread
from jumok.measurement.spread import DEFAULT_D, jacobian_norm, scaling

SEEDS = (0, 1, 2, 3)


@pytest.fixture(scope="module")
def default():
    return scaling()


def standard_error(row, n_keys):
    """Relative, of a variance measured from sets of queries that share keys (as in scaling's docstring)."""
    a, b = spread.N_QUERIES, n_keys
    return math.sqrt((2 + (6 + 2 * (a + b - 2)) / row.d) / (b * row.n_rows))


# against theory ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_variance_is_d_and_1_after_division(seed):
    """Within 4.5 standard errors, which is at most 6.3%, for every d of the default and some odd ones."""
    for row in scaling([1, 3, 100, *DEFAULT_D], seed=seed).rows:
        tolerance = 4.5 * standard_error(row, 16)
        assert tolerance < 0.09
        assert row.unscaled.variance == pytest.approx(row.d, rel=tolerance)
        assert row.scaled.variance == pytest.approx(1, rel=tolerance)
        assert row.unscaled.std == pytest.approx(math.sqrt(row.d), rel=tolerance)
        assert (row.unscaled.theory_variance, row.scaled.theory_variance) == (row.d, 1)


def test_the_standard_error_is_the_one_stated(monkeypatch):
    """Variances of 200 seeds scatter as the docstring says (the scatter of 200 is itself known to 5%)."""
    monkeypatch.setattr(spread, "MOST_SETS", 300)
    rows = [scaling(2, n_keys=16, seed=seed).rows[0] for seed in range(200)]
    scatter = np.std([row.unscaled.variance for row in rows]) / 2
    assert scatter == pytest.approx(standard_error(rows[0], 16), rel=0.2)


def test_default_is_the_powers_of_two_from_2_to_4096(default):
    assert [row.d for row in default.rows] == [2**i for i in range(1, 13)]
    assert all(row.n_rows >= 768 for row in default.rows)


def test_largest_weight_rises_to_1_without_division_and_stays_with_it(default):
    without = [row.unscaled.largest_weight for row in default.rows]
    divided = [row.scaled.largest_weight for row in default.rows]
    assert all(a < b for a, b in pairwise(without))
    assert without[0] < 0.35
    assert without[-1] > 0.97
    assert max(divided) - min(divided) < 0.03
    assert all(1 / 16 < weight < 1 for weight in (*without, *divided))


def test_gradient_falls_without_division_and_stays_with_it(default):
    without = [row.unscaled.gradient for row in default.rows]
    divided = [row.scaled.gradient for row in default.rows]
    assert all(a > b for a, b in pairwise(without[1:]))  # from d = 4 on
    assert without[-1] < 0.1 * without[0]
    assert max(divided) - min(divided) < 0.02
    for row in default.rows:
        for part in (row.unscaled, row.scaled):
            assert part.gradient_share == pytest.approx(part.gradient / (math.sqrt(15) / 16))
            assert 0 < part.gradient <= 0.5


def test_at_d_1_the_division_changes_nothing():
    row = scaling(1).rows[0]
    assert row.unscaled == row.scaled
    assert row.unscaled.variance == pytest.approx(1, rel=4.5 * standard_error(row, 16))


# against loops ----------------------------------------------------------------------------------


def test_one_row_by_hand():
    """Scores 0 and ln 3: weights 1/4 and 3/4; the Jacobian is ±3/16 four times, so its norm is 3/8."""
    total, squares, largest, gradient = spread._sums(np.array([[[0.0, math.log(3)]]]))
    assert total == pytest.approx(math.log(3))
    assert squares == pytest.approx(math.log(3) ** 2)
    assert largest == pytest.approx(0.75)
    assert gradient == pytest.approx(0.375)


def test_every_number_against_a_loop():
    d, n_keys, seed = 2, 3, 5
    found = scaling(d, n_keys=n_keys, seed=seed).rows[0]
    draw = np.random.default_rng([seed, d])
    n_sets = found.n_rows // spread.N_QUERIES
    q, k = draw.standard_normal((n_sets, spread.N_QUERIES, d)), draw.standard_normal((n_sets, n_keys, d))
    for scale, part in ((1.0, found.unscaled), (1 / math.sqrt(d), found.scaled)):
        scores, largest, gradients = [], [], []
        for one_q, one_k in zip(q.tolist(), k.tolist(), strict=True):
            for query in one_q:
                row = [scale * sum(a * b for a, b in zip(query, key, strict=True)) for key in one_k]
                total = sum(math.exp(s) for s in row)
                w = [math.exp(s) / total for s in row]
                scores += row
                largest.append(max(w))
                jacobian = [w[i] * ((i == j) - w[j]) for i in range(n_keys) for j in range(n_keys)]
                gradients.append(math.sqrt(sum(entry**2 for entry in jacobian)))
        assert part.variance == pytest.approx(np.var(scores), rel=1e-12)
        assert part.std == pytest.approx(np.std(scores), rel=1e-12)
        assert part.largest_weight == pytest.approx(np.mean(largest), rel=1e-12)
        assert part.gradient == pytest.approx(np.mean(gradients), rel=1e-9)
        assert part.gradient_share == pytest.approx(np.mean(gradients) / (math.sqrt(2) / 3), rel=1e-9)


def test_what_is_measured_is_the_product():
    from jumok.path import scores, weights

    assert (spread.dot, spread.scaled, spread.softmax) == (scores.dot, scores.scaled, weights.softmax)


@pytest.mark.parametrize("size", [0.0, 0.5, 3.0, 20.0])
def test_jacobian_norm_against_torch(size):
    import torch

    scores = size * torch.from_numpy(np.random.default_rng(7).standard_normal((20, 9)))
    got = jacobian_norm(torch.softmax(scores, -1).numpy())
    for row, norm in zip(scores, got, strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), row)
        assert norm == pytest.approx(float(torch.linalg.matrix_norm(jacobian)), rel=1e-7, abs=2e-8)


def test_jacobian_norm_of_equal_weights_and_of_one_key():
    for n in (2, 3, 16, 1000):
        assert jacobian_norm(np.full(n, 1 / n)) == pytest.approx(math.sqrt(n - 1) / n)
        assert jacobian_norm(np.eye(n)[0]) == 0


# the record -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_and_another_another():
    assert scaling([64, 2]) == scaling([64, 2])
    assert scaling(64, seed=1).rows != scaling(64, seed=2).rows


def test_a_row_does_not_depend_on_its_neighbours(default):
    assert scaling([4096, 64]).rows == (default.rows[-1], default.rows[5])


@pytest.mark.parametrize("d", [3, [3], (3,), range(3, 4), np.int64(3), np.array([3]), iter([3])])
def test_what_d_may_be(d):
    assert [row.d for row in scaling(d).rows] == [3]


def test_it_is_frozen_and_says_where_it_comes_from(default):
    with pytest.raises(AttributeError):
        default.rows = ()
    with pytest.raises(AttributeError):
        default.rows[0].d = 3
    assert default.source.kind == "measurement"
    assert default.source.details["seed"] == 0
    assert default.source.details["n_keys"] == 16
    assert default.source.details["n_rows"] == [row.n_rows for row in default.rows]
    assert default.source.backend.startswith("numpy")


def test_json_has_every_number(default):
    plain = json.loads(json.dumps(default.to_json(), allow_nan=False))
    assert plain["rows"][0]["d"] == 2
    assert plain["rows"][11]["unscaled"]["variance"] == default.rows[11].unscaled.variance
    assert plain["rows"][11]["scaled"]["gradient_share"] == default.rows[11].scaled.gradient_share
    assert (plain["n_keys"], plain["seed"]) == (16, 0)


def test_it_is_at_the_door():
    assert jumok.scaling is scaling
    assert jumok.Scaling is spread.Scaling


# the sentences ----------------------------------------------------------------------------------


def numbers(text):
    return sorted(re.findall(r"\d+(?:[.,]\d+)*", text))


@pytest.mark.parametrize("d", [None, 1, 8, 4096, [1, 2]])
def test_both_languages_carry_the_same_numbers_of_the_record(d):
    found = scaling(d)
    en, ko = found.text("en"), found.text("ko")
    assert numbers(en) == numbers(ko)
    last = found.rows[-1]
    for number in (last.unscaled.largest_weight, last.scaled.largest_weight):
        assert f"{number:.2f}" in en
    for number in (last.unscaled.gradient, last.scaled.gradient):
        assert f"{number:.3f}" in ko
    assert str(found) == en
    assert en.count(". ") == ko.count(". ") == 2


def test_every_phrase_has_both_languages_and_the_same_places():
    for phrase in spread._PHRASES.values():
        places = [sorted(set(re.findall(r"{(\w+)}", phrase[lang]))) for lang in ("en", "ko")]
        assert places[0] == places[1]


@pytest.mark.parametrize(
    ("d", "said", "said_ko"),
    [
        (None, "the gradient survives", "기울기도 살아남습니다"),
        (4096, "nearly one key", "거의 키 하나만"),
        (8, "lean more to one side", "한쪽으로 더 쏠리지만"),
        ([1, 2], "changes little", "거의 없고"),
    ],
)
def test_the_conclusion_follows_what_was_measured(d, said, said_ko):
    found = scaling(d)
    assert said in found.text("en")
    assert said_ko in found.text("ko")


def test_default_conclusion_word_for_word(default):
    assert default.text("ko") == (
        "q·k의 분산은 d가 2일 때 2.01, 4,096일 때 4,078이고(이론값은 d), √d로 나누면 각각 1.00, 1.00입니다(이론값은 1). "
        "d가 4,096일 때 키 16개 가운데 가장 큰 어텐션 가중치의 평균은 나누지 않으면 0.98, 나누면 0.24이고, "
        "소프트맥스의 기울기는 나누지 않으면 0.025, 나누면 0.304입니다. 따라서 √d로 나누지 않으면 소프트맥스가 거의 키 하나만 "
        "고르고 기울기를 조금밖에 전하지 못해 다른 키를 고르도록 학습하기 어렵지만, √d로 나누면 가중치가 여러 키에 나뉘고 "
        "기울기도 살아남습니다."
    )


def test_unknown_language():
    with pytest.raises(UnknownName, match="unknown language 'fr'") as error:
        scaling(1).text("fr")
    assert "언어" in error.value.text("ko")


# bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "d", [0, -1, 2.0, 64.5, True, np.True_, "64", "", b"64", None.__class__, [2, 0], [True], [2.5], [[2]]]
)
def test_a_d_that_is_not_a_width_is_refused(d):
    with pytest.raises(InputError, match="d expects a whole number from 1 up, got") as error:
        scaling(d)
    assert "d에는 1 이상의 정수가 필요한데" in error.value.text("ko")


def test_an_empty_list_is_refused():
    with pytest.raises(InputError, match="empty list: give at least one width") as error:
        scaling([])
    assert "빈 목록" in error.value.text("ko")


@pytest.mark.parametrize("n_keys", [1, 0, -2, 2.0, True, "16", None, 2**16 + 1, 10**30])
def test_n_keys_that_leave_nothing_to_choose_are_refused(n_keys):
    with pytest.raises(InputError, match="n_keys expects a whole number from 2 to 65,536, got") as error:
        scaling(2, n_keys=n_keys)
    assert "n_keys에는 2 이상 65,536 이하의 정수가 필요한데" in error.value.text("ko")


@pytest.mark.parametrize("seed", [-1, 0.5, None, True, "0"])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(InputError, match="seed expects a whole number from 0 up, got"):
        scaling(2, seed=seed)


@pytest.mark.parametrize(("d", "n_keys"), [(10**6, 16), (10**30, 2), (4096, 2**16), ([2, 10**6], 16)])
def test_what_would_not_fit_is_refused_with_its_size(d, n_keys):
    with pytest.raises(TooLargeError, match=r"draws .* numbers at once, more than 2,097,152") as error:
        scaling(d, n_keys=n_keys)
    width = d if isinstance(d, int) else d[-1]
    assert error.value.bytes_needed == 8 * width * (n_keys + 4)
    assert "한도는 2,097,152개입니다" in error.value.text("ko")


@pytest.mark.parametrize(("d", "n_keys"), [(104_857, 16), (31, 2**16), (4096, 508)])
def test_memory_is_bounded_at_the_limit(monkeypatch, d, n_keys):
    """What is held at once is a few times the 16 MiB of one set, whatever the number of sets."""
    monkeypatch.setattr(spread, "LEAST_SETS", 2)
    tracemalloc.start()
    scaling(d, n_keys=n_keys)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20
