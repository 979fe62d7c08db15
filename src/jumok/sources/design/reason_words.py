"""Reasons and what would lift them, in English and Korean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...words import LANGS, fill, language

if TYPE_CHECKING:
    from .reasons import Lift, Reason

__all__ = ["lift_text", "reason_text"]

MOST_NAMED = 6


def reason_text(reason: Reason, lang: str) -> str:
    """What is the matter and why, in a language."""
    name, data = _KINDS[reason.kind](reason)
    return fill(_PHRASES[name][LANGS.index(language(lang))], data, lang)


def lift_text(lift: Lift, lang: str) -> str:
    """What would lift a reason, in a language."""
    name = {"own-dimension": "own-dimensions", "larger-d_k": "larger-rank"}.get(lift.kind, lift.kind)
    data = dict(lift.facts)
    if lift.kind == "own-dimension" and len(data["tokens"]) == 1:
        name, data = "own-dimension", {"token": data["tokens"][0]}
    elif lift.kind == "own-dimension":
        data = {"n": len(data["tokens"])}
    elif lift.kind == "larger-d_k" and data["exact"]:
        name = "larger-d_k"
    return fill(_LIFTS[name][LANGS.index(language(lang))], data, lang)


def _forbidden(reason: Reason) -> tuple[str, dict[str, Any]]:
    query, *keys = reason.tokens
    return "forbidden", {"query": query, "keys": keys, "sum": reason.facts["sum"]}


def _zero(reason: Reason) -> tuple[str, dict[str, Any]]:
    query, *keys = reason.tokens
    name = "nothing-remained" if reason.facts["nothing_remained"] else "wanted-zero"
    facts = reason.facts
    small = {name: _small(facts[name]) for name in ("largest", "ridge")}
    return name, {"query": query, "keys": keys, "size": facts["size"], **small}


def _zero_embedding(reason: Reason) -> tuple[str, dict[str, Any]]:
    facts = reason.facts
    if facts["tiny"] and not facts["projected"]:
        return "tiny-embedding", {"token": reason.tokens[0], **{n: facts[n] for n in ("key", "wanted", "forced")}}
    name = "zero-projected" if facts["projected"] else "zero-embedding"
    told = {n: facts[n] for n in ("key", "wanted", "forced", "n_keys")}
    return f"{name}-biased" if facts["biased"] else name, {"token": reason.tokens[0], **told}


def _equal(reason: Reason) -> tuple[str, dict[str, Any]]:
    facts = reason.facts
    if facts["side"] == "query":
        first, other = reason.tokens
        a, b = facts["shares"]
        name = "equal-queries-biased" if facts["biased"] else "equal-queries"
        return name, {"first": first, "other": other, "key": facts["key"], "a": a, "b": b}
    a, b = facts["wanted"]
    one, other = facts["pair"]
    tokens = list(reason.tokens)
    name = "equal-keys-biased" if facts["biased"] else "equal-keys"
    names = tokens if len(tokens) <= MOST_NAMED else [*tokens[:MOST_NAMED], "…"]
    told = {"names": names, "query": facts["query"], "one": one, "other": other, "a": a, "b": b}
    return name, told | {"ratio": _small(facts["ratio"])}


def _contradiction(reason: Reason) -> tuple[str, dict[str, Any]]:
    facts = reason.facts
    a, b = facts["shares"]
    s, t = facts["sentences"]
    return "contradiction", {"token": reason.tokens[0], "key": facts["key"][0], "a": a, "b": b, "s": s, "t": t}


def _combination(reason: Reason) -> tuple[str, dict[str, Any]]:
    facts = reason.facts
    if facts["side"] == "both":
        return "tied", {"query": facts["query"], "key": facts["key"], "off": facts["off"], "n": facts["n_cells"]}
    if "shares" not in facts:
        told = {n: facts[n] for n in ("n_tokens", "n_directions", "worst", "witness", "off")}
        return f"many-{facts['side']}", told
    token, *others = reason.tokens
    data = {"token": token, "mix": _mix(facts["shares"], others), "witness": facts["witness"], "off": facts["off"]}
    return f"mixed-{facts['side']}", data


def _rank(reason: Reason) -> tuple[str, dict[str, Any]]:
    facts = reason.facts
    name = "rank" if facts["needed"] is not None else "rank-gap"
    return name, {n: facts[n] for n in ("d_k", "enough")} | {n: _small(facts[n]) for n in ("loss", "bound", "gap")}


def _values(reason: Reason) -> tuple[str, dict[str, Any]]:
    token, *others = (*reason.tokens, "")
    shares = reason.facts.get("shares", [])
    named = {"other": others[0] if others else "", "mix": _mix(shares, others)}
    return reason.kind, {"token": token, **named, **reason.facts}


def _mix(shares: Any, tokens: Any) -> str:
    """0.5 × a − 2 × b."""
    mix = ""
    for share, token in zip(shares, tokens, strict=False):
        sign = ("−" if share < 0 else "") if not mix else " − " if share < 0 else " + "
        mix += f"{sign}{abs(share):.4g} × {token}"
    return mix


def _small(value: float) -> str:
    """A number that may be far below 0.001."""
    return f"{value:.3g}"


_KINDS = {
    "forbidden": _forbidden,
    "wanted-zero": _zero,
    "zero-embedding": _zero_embedding,
    "equal-embeddings": _equal,
    "contradiction": _contradiction,
    "combination": _combination,
    "rank": _rank,
    "rounding": lambda reason: ("rounding", {name: _small(value) for name, value in reason.facts.items()}),
    **dict.fromkeys(("zero-mix", "same-mix", "combined-mix", "outside-w_o", "narrow-values"), _values),
}

_PHRASES = {
    "forbidden": (
        "{query} wants {sum:n} of its attention on {keys:names}, which the rule does not let it read. That part of the wish "
        "is dropped, and the rest of the row is scaled up to 1.",
        "{query:은/는} {keys:names}에 어텐션 {sum:을/를} 바라지만 규칙상 볼 수 없습니다. 그 바람은 빼고 행의 나머지를 합이 1이 되게 "
        "늘렸습니다.",
    ),
    "wanted-zero": (
        "{query} wants exactly 0 for {keys:names}. Softmax gives exactly 0 only to what is masked; otherwise it would take an "
        "infinite W. With a ridge of {ridge:e} the weight got down to {largest:e}, with entries of W up to {size:n}.",
        "{query:은/는} {keys:names}에 정확히 0을 바랍니다. 소프트맥스는 마스크로 가린 것에만 정확히 0을 주므로, 그러려면 W가 무한히 "
        "커져야 합니다. 능형 항(ridge) {ridge:e}에서 가중치는 {largest:e}까지 줄었고, W의 원소는 {size:n}까지 커졌습니다.",
    ),
    "nothing-remained": (
        "The wishes of {query} already sum to 1, so nothing remains for {keys:names}: they are wanted at exactly 0, which would "
        "take an infinite W. With a ridge of {ridge:e} the weight got down to {largest:e}, with entries of W up to {size:n}.",
        "{query}의 바람이 이미 합해서 1이라 {keys:names}에 남는 것이 없습니다. 정확히 0을 바라는 셈이고, 그러려면 W가 무한히 커져야 "
        "합니다. 능형 항(ridge) {ridge:e}에서 가중치는 {largest:e}까지 줄었고, W의 원소는 {size:n}까지 커졌습니다.",
    ),
    "zero-embedding": (
        "The embedding of {token} is 0, so its query is 0 whatever W_Q is: it asks nothing, and its {n_keys:int} allowed keys "
        "share evenly. {key} gets {forced:n}, not the wanted {wanted:n}.",
        "{token}의 임베딩이 0이라 W_Q가 무엇이든 쿼리도 0입니다. 아무것도 묻지 않으므로 볼 수 있는 키 {n_keys:int}개가 고르게 "
        "나눕니다. {key:은/는} 바라는 {wanted:이/가} 아니라 {forced:을/를} 받습니다.",
    ),
    "zero-embedding-biased": (
        "The embedding of {token} is 0, so its query is 0 whatever W_Q is: it asks nothing, and only the position bias divides "
        "its {n_keys:int} allowed keys. {key} gets {forced:n}, not the wanted {wanted:n}.",
        "{token}의 임베딩이 0이라 W_Q가 무엇이든 쿼리도 0입니다. 아무것도 묻지 않으므로 볼 수 있는 키 {n_keys:int}개를 위치 편향만이 "
        "나눕니다. {key:은/는} 바라는 {wanted:이/가} 아니라 {forced:을/를} 받습니다.",
    ),
    "tiny-embedding": (
        "The embedding of {token} is so small beside the others that double precision does not tell it from 0: it is taken to ask "
        "nothing. {key} gets {forced:n}, not the wanted {wanted:n}.",
        "{token}의 임베딩이 다른 것에 비해 너무 작아 배정밀도로는 0과 가릴 수 없습니다. 아무것도 묻지 않는 것으로 봅니다. {key:은/는} 바라는 "
        "{wanted:이/가} 아니라 {forced:을/를} 받습니다.",
    ),
    "rounding": (
        "The table can be reached, but not in double precision: multiplied out, a weight is off by {off:e}. The embeddings have "
        "numbers up to {size:e} and a condition number of {condition:e}.",
        "이 표는 얻을 수 있지만 배정밀도로 곱하면 가중치가 {off:e}만큼 어긋납니다. 임베딩의 수는 {size:e}까지이고 조건수는 "
        "{condition:e}입니다.",
    ),
    "zero-projected": (
        "The given W_Q takes {token} to 0: it asks nothing, and its {n_keys:int} allowed keys share evenly. {key} gets "
        "{forced:n}, not the wanted {wanted:n}.",
        "주어진 W_Q가 {token:을/를} 0으로 보냅니다. 아무것도 묻지 않으므로 볼 수 있는 키 {n_keys:int}개가 고르게 나눕니다. {key:은/는} "
        "바라는 {wanted:이/가} 아니라 {forced:을/를} 받습니다.",
    ),
    "zero-projected-biased": (
        "The given W_Q takes {token} to 0: it asks nothing, and only the position bias divides its {n_keys:int} allowed keys. "
        "{key} gets {forced:n}, not the wanted {wanted:n}.",
        "주어진 W_Q가 {token:을/를} 0으로 보냅니다. 아무것도 묻지 않으므로 볼 수 있는 키 {n_keys:int}개를 위치 편향만이 나눕니다. "
        "{key:은/는} 바라는 {wanted:이/가} 아니라 {forced:을/를} 받습니다.",
    ),
    "equal-queries": (
        "{first} and {other} have the same embedding, so they ask the same and divide what both may read in the same shares. "
        "For {key} they want different ones: {a:n} and {b:n}.",
        "{first:과/와} {other:은/는} 임베딩이 같아 같은 것을 묻고, 둘 다 볼 수 있는 것을 같은 비율로 나눕니다. 그런데 {key}에 서로 "
        "다른 몫을 바랍니다: {a:과/와} {b:n}.",
    ),
    "equal-keys": (
        "The tokens {names:names} have the same embedding, so a row gives the same score to all of them that it may read. {query} "
        "wants {a:n} for {one} and {b:n} for {other}.",
        "토큰 {names:names}의 임베딩이 같습니다. 그래서 한 행은 그 가운데 볼 수 있는 모두에 같은 점수를 줍니다. 그런데 {query:은/는} "
        "{one}에 {a:n}, {other}에 {b:을/를} 바랍니다.",
    ),
    "equal-queries-biased": (
        "{first} and {other} have the same embedding, so they ask the same and, apart from the position bias, divide what both "
        "may read in the same shares. For {key} they want different ones (the bias taken off): {a:n} and {b:n}.",
        "{first:과/와} {other:은/는} 임베딩이 같아 같은 것을 묻고, 위치 편향을 빼면 둘 다 볼 수 있는 것을 같은 비율로 나눕니다. 그런데 "
        "{key}에 (위치 편향을 뺀) 서로 다른 몫을 바랍니다: {a:과/와} {b:n}.",
    ),
    "equal-keys-biased": (
        "The tokens {names:names} have the same embedding, so only the position bias tells their scores apart: in the row {query} "
        "it makes the weights of {one} and {other} {ratio:e} to 1. Wanted are {a:n} and {b:n}.",
        "토큰 {names:names}의 임베딩이 같아 위치 편향만이 점수를 가릅니다. {query} 행에서 {one:과/와} {other}의 가중치는 {ratio:e} 대 1이 "
        "됩니다. 바라는 것은 {a:과/와} {b:n}입니다.",
    ),
    "contradiction": (
        "{token} has the same embedding in sentence {s:int} and in sentence {t:int}, so it asks the same in both. It wants "
        "different shares for {key}: {a:n} and {b:n} of what stands in both.",
        "{token:은/는} 문장 {s:과/와} 문장 {t:int}에서 임베딩이 같아 둘 다에서 같은 것을 묻습니다. 그런데 {key}에 서로 다른 몫을 "
        "바랍니다: 두 문장에 다 있는 것 가운데 {a:과/와} {b:n}.",
    ),
    "mixed-query": (
        "The embedding of {token} is {mix:e}, so its row of scores is the same mix of theirs. The wanted weights ask for "
        "{off:n} more or less (in log weight) for {witness}.",
        "{token}의 임베딩은 {mix:e}입니다. 그래서 점수 행도 그 행들을 똑같이 섞은 것이 됩니다. 바라는 가중치는 {witness}에서 "
        "(로그 가중치로) {off:n}만큼 어긋납니다.",
    ),
    "mixed-key": (
        "The embedding of {token} is {mix:e}, so every row scores it with the same mix. The row {witness} asks for {off:n} more "
        "or less (in log weight).",
        "{token}의 임베딩은 {mix:e}입니다. 그래서 모든 행이 그만큼 섞은 점수를 줍니다. {witness} 행은 (로그 가중치로) {off:n}만큼 다른 "
        "것을 바랍니다.",
    ),
    "many-query": (
        "{n_tokens:int} tokens ask, but their embeddings have only {n_directions:int} independent directions: every row beyond "
        "them is a mix of others. Worst is {worst}, off by {off:n} (in log weight) for {witness}.",
        "토큰 {n_tokens:int}개가 묻지만 임베딩의 독립인 방향은 {n_directions:int}개뿐이라, 그보다 많은 행은 다른 행들을 섞은 것이 "
        "됩니다. 가장 어긋나는 것은 {worst}이고, {witness}에서 (로그 가중치로) {off:n}만큼 다릅니다.",
    ),
    "many-key": (
        "{n_tokens:int} tokens are read, but their embeddings differ in only {n_directions:int} independent directions: every "
        "further score is a mix of others. Worst is {worst}, off by {off:n} (in log weight) in the row {witness}.",
        "읽히는 토큰은 {n_tokens:int}개지만 임베딩이 서로 다른 독립인 방향은 {n_directions:int}개뿐이라, 나머지 점수는 다른 점수들을 "
        "섞은 것이 됩니다. 가장 어긋나는 것은 {worst}이고, {witness} 행에서 (로그 가중치로) {off:n}만큼 다릅니다.",
    ),
    "tied": (
        "The embeddings tie the wanted cells together: {n:int} cells ask for what no W gives, most of all {query} for {key}, off "
        "by {off:n} (in log weight) at the nearest.",
        "임베딩이 바라는 칸들을 함께 묶습니다. 어떤 W로도 안 되는 칸이 {n:int}개이고, {query}의 {key} 칸이 가장 심해 가장 가까이 가도 "
        "(로그 가중치로) {off:n}만큼 다릅니다.",
    ),
    "rank": (
        "The table needs d_k ≥ {enough:int}, got {d_k:int}: its logarithms, less a constant a row, have rank {enough:int}, and "
        "q · k of width {d_k:int} gives no more than rank {d_k:int}. Reached: {loss:e} nats from the table.",
        "이 표에는 d_k ≥ {enough:이/가} 필요한데 {d_k:이/가} 왔습니다. 행마다 상수를 뺀 로그 표의 랭크(rank)가 "
        "{enough:int}인데, 너비 {d_k:int}의 q · k는 랭크 {d_k:을/를} 넘지 못합니다. 표와의 거리는 {loss:e} nat입니다.",
    ),
    "rank-gap": (
        "With d_k = {d_k:int} the best found is {loss:e} nats from the table; without that limit {bound:e} nats is proven to be "
        "the least. The gap of {gap:e} nats is what the width may cost. d_k = {enough:int} is enough to close it.",
        "d_k = {d_k:int}에서 찾은 최선은 표에서 {loss:e} nat 떨어져 있습니다. 그 제한이 없을 때의 최소는 {bound:e} nat임이 증명됩니다. "
        "차이 {gap:e} nat가 너비 때문에 치를 수 있는 값입니다. d_k = {enough:int}이면 이 차이가 없어집니다.",
    ),
    "zero-mix": (
        "What {token} reads sums to 0 (its weights times the embeddings), so its output is 0 whatever W_V is.",
        "{token:이/가} 읽는 것은 합해서 0(가중치 × 임베딩)이라 W_V가 무엇이든 출력도 0입니다.",
    ),
    "same-mix": (
        "{token} and {other} read the same mix of embeddings, so they get the same output. The wanted ones differ by up to {off}.",
        "{token:과/와} {other:은/는} 임베딩을 똑같이 섞어 읽으므로 출력도 같습니다. 바라는 출력은 최대 {off}만큼 다릅니다.",
    ),
    "combined-mix": (
        "What {token} reads is {mix:e}, so its output is the same mix of theirs. The wanted output differs from it by up to {off}.",
        "{token:이/가} 읽는 것은 {mix:e}입니다. 그래서 출력도 그 출력들을 똑같이 섞은 것이 됩니다. 바라는 출력은 거기서 최대 {off}만큼 "
        "다릅니다.",
    ),
    "outside-w_o": (
        "The wanted output of {token} has a part of length {off} in a direction that the given W_O never makes.",
        "{token}의 바라는 출력에는 주어진 W_O로 만들 수 없는 방향의 성분이 있습니다(길이 {off}).",
    ),
    "narrow-values": (
        "Values of width {d_value:int} cannot carry all that the outputs need.",
        "너비 {d_value:int}의 밸류로는 바라는 출력을 모두 담을 수 없습니다.",
    ),
}

_LIFTS = {
    "context-dimension": (
        "An embedding dimension in which {token} differs from one sentence to the other.",
        "{token:이/가} 두 문장에서 서로 다른 값을 가지는 임베딩 차원을 더합니다.",
    ),
    "even-sizes": (
        "Embeddings of sizes that are nearer to each other.",
        "임베딩의 크기를 서로 비슷하게 맞춥니다.",
    ),
    "other-weights": (
        "Other attention weights for it, so that its mix differs.",
        "어텐션 가중치를 바꾸어 다른 것을 섞게 합니다.",
    ),
    "other-projection": (
        "A W_O whose rows reach that direction.",
        "그 방향에 닿는 W_O를 씁니다.",
    ),
    "larger-d_value": (
        "Wider values (d_value).",
        "밸류를 넓힙니다(d_value).",
    ),
    "own-dimension": (
        "One more embedding dimension that only {token} has.",
        "{token}만 가지는 임베딩 차원을 하나 더합니다.",
    ),
    "own-dimensions": (
        "More embedding dimensions: {n:int}, one for each of these tokens, are surely enough.",
        "임베딩 차원을 늘립니다. 이 토큰마다 하나씩 {n:int}개면 반드시 충분합니다.",
    ),
    "position-dimension": (
        "A position encoding, so that places tell the tokens apart.",
        "위치 인코딩을 더해 자리로 토큰을 구별하게 합니다.",
    ),
    "second-layer": (
        "A second layer: its tokens have already read their neighbours, so they no longer ask the same.",
        "둘째 층을 더합니다. 그 층의 토큰은 이미 이웃을 읽었으므로 더는 같은 것을 묻지 않습니다.",
    ),
    "small-weight": (
        "Ask for a small weight such as 0.001 instead of 0.",
        "0 대신 0.001처럼 작은 가중치를 바랍니다.",
    ),
    "other-rule": (
        "Another rule (mask).",
        "다른 규칙(마스크)을 씁니다.",
    ),
    "same-wish": (
        "The same shares in both sentences.",
        "두 문장에서 같은 몫을 바랍니다.",
    ),
    "larger-d_k": (
        "d_k = {d_k:int} or more.",
        "d_k를 {d_k:int} 이상으로 합니다.",
    ),
    "larger-rank": (
        "A larger d_k; {d_k:int} is enough.",
        "d_k를 늘립니다. {d_k:int}이면 충분합니다.",
    ),
}
