"""The sentences: one for each kind of fact, English and Korean on adjacent lines, with the same facts in both.

``words.fill`` says how ``{token:은/는}``, ``{dims:dims}`` and the others are filled.
"""

from __future__ import annotations

__all__ = ["PHRASES", "SECTION_TITLES", "STAGE_PHRASES", "SUMMARY"]

SECTION_TITLES = {
    "embedding": ("Embedding: what {token} is", "임베딩: {token:은/는} 무엇인가"),
    "query": ("Query: what {token} looks for", "쿼리: {token:이/가} 찾는 것"),
    "keys": ("Keys: what every token offers", "키: 토큰마다 내놓는 것"),
    "scores": ("Scores: how well they fit (q·k ÷ √d_k)", "점수 (score): 얼마나 잘 맞는가 (q·k ÷ √d_k)"),
    "weights": ("Weights: shares that sum to 1 (softmax)", "어텐션 가중치: 합이 1인 몫 (소프트맥스)"),
    "values": ("Weights × values: what is handed over", "가중치 × 밸류: 전달되는 것"),
    "output": ("Output: the weighted sum", "출력: 가중합"),
    "ranking": ("What {token} attends to", "{token:이/가} 참고하는 것"),
    "change": ("What changed: from the embedding to the output", "달라진 점: 임베딩에서 출력까지"),
    "why": ("Why this query: from the wanted weights back to q", "왜 이 쿼리인가: 바라는 가중치에서 쿼리까지 거꾸로"),
    "layers": ("Why one layer cannot, and more can", "한 층으로는 안 되고 여러 층이면 되는 까닭"),
    "analogies": ("Three ways to picture it", "세 가지 비유"),
    "summary": ("The steps in plain words", "쉬운 말로 정리한 과정"),
    "definition": ("In one sentence", "한 문장으로"),
}

PHRASES = {
    "token": (
        "{token} is token {number:int} of {n:int} (position {position:int}, counted from 0).",
        "{token:은/는} 토큰 {n:int}개 가운데 {number:int}번째입니다(0부터 세면 위치 {position:int}).",
    ),
    # embedding
    "embedding.named": (
        "Its embedding: {dims:dims+}; 0 in every other dimension.",
        "임베딩: {dims:dims+}. 나머지 차원은 0입니다.",
    ),
    "embedding.full": ("Its embedding: {dims:dims+}.", "임베딩: {dims:dims+}."),
    "embedding.numbers": (
        "Its embedding, in dimensions without names: {vector:vec}.",
        "이름 없는 차원의 임베딩: {vector:vec}.",
    ),
    "embedding.zero": (
        "Its embedding is 0 in every dimension: {token} carries no meaning of its own here.",
        "임베딩이 모든 차원에서 0입니다. 여기서 {token:은/는} 스스로 아무 뜻도 지니지 않습니다.",
    ),
    "embedding.position": (
        "The position code (sinusoidal) of place {number:int} has been added to it.",
        "여기에는 {number:int}번째 자리의 위치 인코딩(sinusoidal)이 더해져 있습니다.",
    ),
    "only.head": (
        "Of the {n_heads:int} heads of this layer, head {head:int} alone (counted from 0).",
        "이 층의 헤드 {n_heads:int}개 가운데 {head:int}번 헤드(0부터 셉니다)만 봅니다.",
    ),
    "only.chosen": (
        "Of {n_heads:int} heads, head {head:int} of this layer alone: not counting the first token, special tokens and neighbours, it gives "
        "a token the largest weight ({key}, {weight:n}). For another head: --layer and --head (in Python layer=, head=), for all: "
        '--all-heads (head="all").',
        "헤드 {n_heads:int}개 가운데 이 층의 {head:int}번 헤드만 봅니다. 첫 토큰, 특수 토큰, 이웃을 빼고 가장 큰 가중치({key}, {weight:n})를 주는 "
        '헤드입니다. 다른 헤드는 --layer와 --head(Python에서는 layer=, head=), 모두는 --all-heads(head="all")로 봅니다.',
    ),
    "only.silent": (
        "Of {n_heads:int} heads, head {head:int} of this layer alone: not counting the first token, special tokens and neighbours, none of them "
        'reads anything. For another head: --layer and --head (in Python layer=, head=), for all: --all-heads (head="all").',
        "헤드 {n_heads:int}개 가운데 이 층의 {head:int}번 헤드만 봅니다. 첫 토큰, 특수 토큰, 이웃을 빼면 어느 헤드도 참고하는 토큰이 없습니다. 다른 "
        '헤드는 --layer와 --head(Python에서는 layer=, head=), 모두는 --all-heads(head="all")로 봅니다.',
    ),
    "head": (
        "Head {head:int} of {n_heads:int} (counted from 0):",
        "헤드 {n_heads:int}개 가운데 {head:int}번 헤드(0부터 셉니다):",
    ),
    # query
    "query.rows": (
        "x · W_Q picks rows of W_Q: {rows:rows}.",
        "x · W_Q는 W_Q의 행을 골라 더합니다: {rows:rows}.",
    ),
    "query.named": (
        "The query of {token}: {dims:dims}. The larger the number, the more it looks for that dimension.",
        "{token}의 쿼리: {dims:dims}. 숫자가 클수록 그 차원을 더 찾습니다.",
    ),
    "query.numbers": (
        "The query of {token}: {vector:vec}.",
        "{token}의 쿼리: {vector:vec}.",
    ),
    "query.zero": (
        "The query of {token} is 0: it asks nothing, so no key fits it better than another.",
        "{token}의 쿼리는 0입니다. 아무것도 묻지 않으므로 어떤 키도 다른 키보다 더 잘 맞지 않습니다.",
    ),
    "query.looks_for": (
        "Read through W_K in the embedding's dimensions, it looks for {dims:dims}.",
        "W_K를 거쳐 임베딩 차원에서 읽으면 찾는 것은 다음과 같습니다: {dims:dims}.",
    ),
    "query.rotated": (
        "q and k were turned by their positions (rotary), so the same two words score differently at another distance.",
        "q와 k는 위치에 따라 회전되었습니다(rotary). 그래서 같은 두 낱말도 거리가 다르면 점수가 다릅니다.",
    ),
    # keys
    "keys.intro": (
        "Each key is what a token offers to whoever asks, {token} included:",
        "키는 물어보는 토큰에게 내놓는 것입니다. {token} 자신도 내놓습니다.",
    ),
    "keys.intro.cross": (
        "Each key is what a token of the other sequence offers to {token}:",
        "키는 다른 문장의 토큰이 {token}에게 내놓는 것입니다.",
    ),
    "key.named": ("{key:e}: {dims:dims}", "{key:e}: {dims:dims}"),
    "key.numbers": ("{key:e}: {vector:vec}", "{key:e}: {vector:vec}"),
    "key.zero": ("{key:e}: nothing, its key is 0", "{key:e}: 키가 0이어서 내놓는 것이 없습니다"),
    # scores
    "scores.intro": (
        "q·k multiplies what {token} looks for by what each key offers, dimension by dimension, and adds up (the dot product):",
        "q·k는 {token:이/가} 찾는 것과 각 키가 내놓는 것을 차원마다 곱해 더합니다(내적).",
    ),
    "score": (
        "{key:e}: {terms:terms} = {score:n}; {score:n} {steps:steps} = {scaled:n}",
        "{key:e}: {terms:terms} = {score:n}; {score:n} {steps:steps} = {scaled:n}",
    ),
    "score.none": (
        "{key:e}: no dimension in common, so q·k = {score:n}; {score:n} {steps:steps} = {scaled:n}",
        "{key:e}: 겹치는 차원이 없어 q·k = {score:n}; {score:n} {steps:steps} = {scaled:n}",
    ),
    "score.hidden": (
        "{key:e}: {terms:terms} = {score:n}, but the mask hides it",
        "{key:e}: {terms:terms} = {score:n}, 그러나 마스크가 가립니다",
    ),
    "scores.why_root": (
        "Dividing by √d_k (√{d_head:int}) keeps the numbers from growing with the number of dimensions.",
        "√d_k(√{d_head:int})로 나누는 까닭은 차원이 많아져도 점수가 커지지 않게 하기 위해서입니다.",
    ),
    # weights
    "weights.intro": (
        "softmax: e to the power of (score - the largest score, {top:n}), divided by the sum of all {n:int} ({total:n}):",
        "소프트맥스: 각 점수에서 가장 큰 점수({top:n})를 뺀 값을 e의 지수로 올리고, 그 {n:int}개의 합({total:n})으로 나눕니다.",
    ),
    "weights.intro.sink": (
        "softmax with an attention sink (logit {sink:n}): e to the power of (score - {top:n}, the largest of the scores and the "
        "sink's logit), divided by the sum of all {n:int} and the sink's own {sink_exp:n} ({total:n} together):",
        "어텐션 싱크 (attention sink, 값 {sink:n})가 있는 소프트맥스: 각 점수에서 점수와 싱크 값 가운데 가장 큰 값({top:n})을 뺀 값을 e의 "
        "지수로 올리고, 그 {n:int}개와 싱크의 몫 {sink_exp:n}까지 더한 합({total:n})으로 나눕니다.",
    ),
    "weight": (
        "{key:e}: e^({scaled:n} - {top:n}) = {exp:n}; {exp:n} ÷ {total:n} = {weight:n} ({weight:pct})",
        "{key:e}: e^({scaled:n} - {top:n}) = {exp:n}; {exp:n} ÷ {total:n} = {weight:n} ({weight:pct})",
    ),
    "weights.rest": (
        "the {n:int} other keys together: {weight:n} ({weight:pct})",
        "나머지 키 {n:int}개를 합해: {weight:n} ({weight:pct})",
    ),
    "weights.sum": ("The weights sum to {sum:n}.", "가중치의 합은 {sum:n}입니다."),
    "weights.sink": (
        "The attention sink (logit {sink:n}) takes {share:pct} and hands over nothing, so the weights sum to {sum:n}.",
        "어텐션 싱크 (attention sink, 값 {sink:n})가 {share:pct}를 가져가고 아무것도 전달하지 않으므로 가중치의 합은 {sum:n}입니다.",
    ),
    "row.nothing": (
        "The mask leaves {token} nothing to read, so all its weights, and its share of the output, are 0.",
        "마스크 때문에 {token:이/가} 볼 수 있는 토큰이 없습니다. 그래서 가중치가 모두 0이고 가져오는 것도 없습니다.",
    ),
    "row.hidden": (
        "The mask hides {n_hidden:int} of {n:int} keys from {token}: {keys:names}. They get weight 0.",
        "마스크가 {token}에게서 키 {n:int}개 가운데 {n_hidden:int}개를 가립니다: {keys:names}. 이들의 가중치는 0입니다.",
    ),
    "row.single": (
        "{token} may read only {key}, so {key} gets everything ({weight:n} of {n:int} key), whatever the score.",
        "{token:이/가} 볼 수 있는 것은 {key}뿐이므로 점수와 관계없이 모두 가져갑니다(키 {n:int}개, 가중치 {weight:n}).",
    ),
    "row.uniform.zero_query": (
        "The row is uniform: {token} asks nothing, so all {n:int} scores are {score:n} and each key gets the same {weight:n}.",
        "행이 균등합니다. {token:이/가} 아무것도 묻지 않아 점수 {n:int}개가 모두 {score:n}이므로 키마다 똑같이 {weight:n}씩 받습니다.",
    ),
    "row.uniform.same_keys": (
        "The row is uniform: all {n:int} keys are the same, so {token} cannot tell them apart; score {score:n}, weight {weight:n} each.",
        "행이 균등합니다. 키 {n:int}개가 모두 같아 {token:이/가} 구별할 수 없습니다. 점수는 모두 {score:n}, 가중치는 {weight:n}입니다.",
    ),
    "row.uniform.equal": (
        "The row is uniform: all {n:int} keys score {score:n} with {token}, so each gets the same {weight:n}.",
        "행이 균등합니다. {token:과/와} 키 {n:int}개의 점수가 모두 {score:n}이므로 똑같이 {weight:n}씩 받습니다.",
    ),
    "row.tied.same_keys": (
        "A tie: {keys:names} offer {token} exactly the same (their keys are equal), so they get the same {weight:n} (score {score:n}).",
        "동점: {keys:names}의 키가 서로 같습니다. {token}에게 똑같이 보이므로 가중치도 {weight:으로/로} 같습니다(점수 {score:n}).",
    ),
    "row.tied.nothing": (
        "A tie: {keys:names} offer nothing that {token} looks for (score {score:n}), so they get the same {weight:n}.",
        "동점: {keys:names}에는 {token:이/가} 찾는 것이 없습니다(점수 {score:n}). 그래서 가중치가 {weight:으로/로} 같습니다.",
    ),
    "row.tied.equal": (
        "A tie: {keys:names} score {score:n} each with {token}, so they get the same {weight:n}.",
        "동점: {keys:names}의 점수가 {token}에게 {score:으로/로} 같으므로 가중치도 {weight:으로/로} 같습니다.",
    ),
    "row.dominated": (
        "{key} dominates the row of {token} with {weight:pct} (of {n:int} keys): it is {gap:n} above {second}, and softmax turns a "
        "difference of {gap:n} into a ratio of {ratio:ratio}.",
        "{key:이/가} {token}의 행을 {weight:pct}로 압도합니다(키 {n:int}개 가운데). 다음인 {second}보다 {gap:n} 높은데, 소프트맥스는 "
        "{gap:n}의 차이를 {ratio:ratio}의 비로 바꿉니다.",
    ),
    "row.dominated.far": (
        "{key} takes all of the row of {token} ({weight:pct}, of {n:int} keys): it is {gap:n} above {second}, and softmax leaves next "
        "to nothing to what is so far below.",
        "{key:이/가} {token}의 행을 모두 차지합니다({weight:pct}, 키 {n:int}개 가운데). 다음인 {second}보다 {gap:n}이나 높아서, 그 아래에는 "
        "소프트맥스가 거의 아무것도 남기지 않습니다.",
    ),
    # values and output
    "values.intro": (
        "Each key that {token} reads hands over its value, as much of it as its weight:",
        "{token:이/가} 읽는 키는 저마다 밸류를 가중치만큼 전달합니다.",
    ),
    "value": ("{key:e}: {weight:n} × {value:vec} = {product:vec}", "{key:e}: {weight:n} × {value:vec} = {product:vec}"),
    "value.zero": ("{key:e}: {weight:n} × 0: it hands over nothing", "{key:e}: {weight:n} × 0: 전달하는 것이 없습니다"),
    "output.intro": (
        "Added up over the keys, dimension by dimension, {token} takes home:",
        "차원마다 모두 더하면 {token:이/가} 가져오는 것은 다음과 같습니다.",
    ),
    "output.dim": ("{dim:dim}: {terms:terms} = {value:n}", "{dim:dim}: {terms:terms} = {value:n}"),
    "output.rest": ("Nothing arrives in {dims:dimnames}.", "다음 차원에는 오는 것이 없습니다: {dims:dimnames}."),
    "output.joined": (
        "The {n_heads:int} heads stand side by side: {vector:vec}.",
        "헤드 {n_heads:int}개를 나란히 이어 붙입니다: {vector:vec}.",
    ),
    "output.w_o": (
        "The joined heads ({n_heads:int}) go through W_O: {vector:vec}.",
        "이어 붙인 헤드({n_heads:int}개)가 W_O를 지납니다: {vector:vec}.",
    ),
    "output.named": ("The output of {token}: {dims:dims+}.", "{token}의 출력: {dims:dims+}."),
    "output.numbers": ("The output of {token}: {vector:vec}.", "{token}의 출력: {vector:vec}."),
    "output.zero": (
        "The output of {token} is 0: nothing was handed over.",
        "{token}의 출력은 0입니다. 전달된 것이 없습니다.",
    ),
    # ranking and conclusion
    "ranking": ("{token} attends to: {ranked:ranked}.", "{token:이/가} 참고하는 순서: {ranked:ranked}."),
    "ranking.mean": (
        "{token} attends, mean over the heads, to: {ranked:ranked}.",
        "{token:이/가} 참고하는 순서(헤드 평균): {ranked:ranked}.",
    ),
    "conclusion.even": (
        "{token} attends to everything it may read alike.",
        "{token:은/는} 볼 수 있는 것을 모두 고르게 참고합니다.",
    ),
    "conclusion.most": (
        "{token} attends most to {key} ({weight:pct}), then to {second} ({second_weight:pct}).",
        "{token:은/는} {key:을/를} 가장 많이 참고하고({weight:pct}), 다음은 {second}입니다({second_weight:pct}).",
    ),
    "conclusion.itself": (
        "{token} attends most to itself ({key}, {weight:pct}), then to {second} ({second_weight:pct}).",
        "{token:은/는} 자기 자신({key})을 가장 많이 참고하고({weight:pct}), 다음은 {second}입니다({second_weight:pct}).",
    ),
    "conclusion.most.alike": (
        "{token} attends most to {key} ({weight:pct}), then to {n_alike:int} others alike ({second_weight:pct} each).",
        "{token:은/는} {key:을/를} 가장 많이 참고하고({weight:pct}), 그다음 {n_alike:int}개는 똑같이 참고합니다({second_weight:pct}씩).",
    ),
    "conclusion.itself.alike": (
        "{token} attends most to itself ({key}, {weight:pct}), then to {n_alike:int} others alike ({second_weight:pct} each).",
        "{token:은/는} 자기 자신({key})을 가장 많이 참고하고({weight:pct}), 그다음 {n_alike:int}개는 똑같이 참고합니다({second_weight:pct}씩).",
    ),
    "conclusion.reading": (
        "In the words of its dimensions, {token} takes in: {names:words}.",
        "차원의 뜻으로 읽으면 {token:이/가} 받아들이는 것: {names:words}.",
    ),
    # change
    "change.gained": (
        "{token} was {before:dimnames} alone; now it also carries {gained:dims+}.",
        "{token:은/는} {before:dimnames}뿐이었는데 이제 {gained:dims+}도 함께 지닙니다.",
    ),
    "change.from_nothing": (
        "{token} carried nothing; now it carries {gained:dims+}.",
        "{token:은/는} 지닌 것이 없었는데 이제 지닌 것이 생겼습니다: {gained:dims+}.",
    ),
    "change.same": (
        "{token} carries the same dimensions as before, in another amount: {after:dims+}.",
        "{token:은/는} 전과 같은 차원을 다른 크기로 지닙니다: {after:dims+}.",
    ),
    "change.none": ("{token} comes out as it went in.", "{token:은/는} 들어간 그대로 나옵니다."),
    "change.kept": (
        "What {token} was itself: {before:dims} → {after:dims}.",
        "{token} 자신의 것: {before:dims} → {after:dims}.",
    ),
    "change.nothing": ("{token} takes home nothing.", "{token:이/가} 가져오는 것은 없습니다."),
    "change.lost": (
        "What {token} was itself is no longer in its output: {lost:dimnames}.",
        "{token} 자신의 것은 출력에 남지 않았습니다: {lost:dimnames}.",
    ),
    "change.residual": (
        "The residual connection adds the output of {token} to its x, so the next layer reads: {dims:dims}.",
        "잔차 연결 (residual)이 출력을 x에 더하므로 다음 층이 읽는 {token}: {dims:dims}.",
    ),
    "change.residual_last": (
        "The residual connection adds the output of {token} to its x; what leaves the last layer is: {dims:dims}.",
        "잔차 연결 (residual)이 출력을 x에 더하므로 마지막 층을 나서는 {token}: {dims:dims}.",
    ),
    "change.numbers": (
        "{token} went in as {before:vec} and comes out as {after:vec}: a vector with its context in it.",
        "{token}: 들어간 것은 {before:vec}, 나온 것은 {after:vec}입니다. 문맥이 담긴 벡터(문맥 벡터)입니다.",
    ),
    # why this query
    "why.wanted": (
        "What is wanted of the row of {token}: {weights:dims}.",
        "{token}의 행에 바라는 가중치: {weights:dims}.",
    ),
    "why.zero": (
        "A weight of exactly 0 ({keys:names}) has no logarithm: no score of {token} is low enough, so there is no exact query.",
        "정확히 0인 가중치({keys:names})에는 로그가 없습니다. {token:이/가} 아무리 낮은 점수를 주어도 0이 되지 않으므로 정확한 쿼리는 없습니다.",
    ),
    "why.logs": (
        "Softmax makes shares of e to the power of the scores. Backwards, the scores of {token} are the natural logarithms "
        "of what is wanted: {logs:dims}.",
        "소프트맥스는 e를 점수만큼 거듭제곱한 값을 몫으로 바꿉니다. 거꾸로 가면 {token}의 점수는 바라는 가중치의 자연로그입니다: {logs:dims}.",
    ),
    "why.shift.forced": (
        "Softmax does not see a number that is added to all scores of a row, so the logs may be shifted together. Here the shift is "
        "forced: the key of {key} is 0, so {token} scores it 0 whatever the query is. Adding {shift:n}: {shifted:dims}.",
        "소프트맥스는 한 행의 점수에 똑같이 더한 수를 알아채지 못하므로 로그를 함께 옮겨도 됩니다. 여기서는 옮길 양이 정해져 있습니다. {key}의 키가 "
        "0이라 쿼리가 무엇이든 {token:이/가} 주는 점수는 0이기 때문입니다. {shift:을/를} 더하면: {shifted:dims}.",
    ),
    "why.shift.biased": (
        "Softmax does not see a number that is added to all scores of a row, so the logs may be shifted together. Here the shift is "
        "forced: the key of {key} is 0, so {token} scores it by the position bias alone, whatever the query is. Adding {shift:n}: "
        "{shifted:dims}.",
        "소프트맥스는 한 행의 점수에 똑같이 더한 수를 알아채지 못하므로 로그를 함께 옮겨도 됩니다. 여기서는 옮길 양이 정해져 있습니다. {key}의 키가 "
        "0이라 쿼리가 무엇이든 {token:이/가} 주는 점수는 위치 편향뿐이기 때문입니다. {shift:을/를} 더하면: {shifted:dims}.",
    ),
    "why.shift.free": (
        "Softmax does not see a number that is added to all scores of a row, so the logs may be shifted together, by any number. The "
        "query of {token} took {shift:n}: {shifted:dims}.",
        "소프트맥스는 한 행의 점수에 똑같이 더한 수를 알아채지 못하므로 로그를 함께 얼마든지 옮겨도 됩니다. {token}의 쿼리는 {shift:을/를} "
        "골랐습니다: {shifted:dims}.",
    ),
    "why.bias": (
        "The position bias is already in these scores; without it: {unbiased:dims}.",
        "이 점수에는 위치 편향이 들어 있습니다. 빼면: {unbiased:dims}.",
    ),
    "why.root": (
        "Scores are divided by √d_k (√{d_head:int}) on the way, so q·k has to be as many times larger: {needed:dims}.",
        "가는 길에 점수를 √d_k(√{d_head:int})로 나누므로 q·k는 그만큼 커야 합니다: {needed:dims}.",
    ),
    "why.scale": (
        "Scores are multiplied by {scale:n} on the way, so q·k has to be divided by it: {needed:dims}.",
        "가는 길에 점수에 {scale:을/를} 곱하므로 q·k는 그것으로 나눈 값이어야 합니다: {needed:dims}.",
    ),
    "why.keys.identity": (
        "W_K is the identity, so the keys are the embeddings themselves, and the query of {token} has to fit them:",
        "W_K가 단위 행렬이라 키는 임베딩 그대로이고, {token}의 쿼리는 여기에 맞아야 합니다.",
    ),
    "why.keys": (
        "The query of {token} was solved through the keys, which are what W_K makes of the embeddings; q·k with each:",
        "{token}의 쿼리는 W_K가 임베딩으로 만든 키를 거쳐 구했습니다. 키마다 q·k는 다음과 같습니다.",
    ),
    "why.key": ("{key:e}: {terms:terms} = {score:n}", "{key:e}: {terms:terms} = {score:n}"),
    "why.key.silent": ("{key:e}: nothing to multiply, so {score:n}", "{key:e}: 곱할 것이 없어 {score:n}"),
    "why.query": ("So the query of {token} is: {dims:dims}.", "그래서 {token}의 쿼리: {dims:dims}."),
    "why.query.numbers": ("So the query of {token} is: {vector:vec}.", "그래서 {token}의 쿼리: {vector:vec}."),
    "why.rows": (
        "It stands in W_Q, where the embedding of {token} picks: {rows:rows}.",
        "이 쿼리는 W_Q에 있습니다. {token}의 임베딩이 고르는 것: {rows:rows}.",
    ),
    "why.rounded": (
        "The numbers in W_Q are rounded, so the weights are off by a little: at most {off:n}, for {key}.",
        "W_Q의 수가 반올림되어 있어 가중치가 조금 다릅니다. 가장 큰 차이는 {key}의 {off:n}입니다.",
    ),
    "why.missed": (
        "The query of {token} does not give these scores, but {scores:dims}; the weights miss what is wanted by at most {off:n}, "
        "for {key}.",
        "{token}의 쿼리가 주는 점수는 이것과 다릅니다: {scores:dims}. 가중치는 바라는 것과 최대 {off:n}만큼 다릅니다({key}).",
    ),
    # several layers
    "limit.rule": (
        "In one layer the ratio of two weights in the row of {token} depends only on its query and the two keys "
        "(and, with a position bias, on their places). No other word can change it.",
        "한 층에서 {token}의 행에 있는 두 가중치의 비는 {token}의 쿼리와 그 두 키에만(위치 편향이 있으면 "
        "그 자리에도) 달려 있습니다. 다른 낱말은 이 비를 바꿀 수 없습니다.",
    ),
    "limit.first": (
        "Layer 0, the row of {token}: {a} to {b} is {ratio:ratio}.",
        "0층에서 {token}의 행: {a} 대 {b}는 {ratio:ratio}입니다.",
    ),
    "limit.pair": (
        "In the other sentence of the pair it is {other:ratio} as well: in layer 0 {token} weighs {a} against {b} without "
        "knowing how the sentence ends.",
        "짝이 되는 다른 문장에서도 {other:ratio}로 같습니다. 0층의 {token:은/는} 문장이 어떻게 끝나는지 모르는 채 {a:과/와} {b:을/를} "
        "견줍니다.",
    ),
    "limit.taken_in": (
        "But in layer 0 {token} took in {dims:dims+} from {key}, and the residual connection keeps it: the next layer asks another query.",
        "그러나 0층에서 {token:은/는} {key}에게서 받아들인 것({dims:dims+})이 있고, 잔차 연결 (residual)이 그것을 간직합니다. "
        "그래서 다음 층에서는 다른 것을 묻습니다.",
    ),
    "limit.last": (
        "Layer {layer:int}, the row of {token}: {a} to {b} is now {ratio:ratio}.",
        "{layer:int}층에서 {token}의 행: 이제 {a} 대 {b}는 {ratio:ratio}입니다.",
    ),
    "limit.pair_last": (
        "In the other sentence of the pair, layer {layer:int} has {a} to {b} at {other:ratio}: {token} turned to the other noun.",
        "짝이 되는 다른 문장에서는 {layer:int}층의 {a} 대 {b}가 {other:ratio}입니다. {token:이/가} 다른 명사로 돌아섰습니다.",
    ),
    # analogies
    "analogy.classroom": (
        "A classroom: all {n:int} tokens ask each other, and themselves, at once: {n_questions:int} questions, and {token} asks too.",
        "교실: 토큰 {n:int}개가 서로에게, 그리고 자신에게 한꺼번에 묻습니다. 질문은 {n_questions:int}개이고, {token}도 묻습니다.",
    ),
    "analogy.classroom.masked": (
        "A classroom with screens (the mask): {token} may ask {n_allowed:int} of the {n:int} tokens.",
        "칸막이(마스크)가 있는 교실: {token:은/는} 토큰 {n:int}개 가운데 {n_allowed:int}개에게 물을 수 있습니다.",
    ),
    "analogy.listens": (
        "In the classroom {token} listens most to {key} ({weight:pct}).",
        "교실에서 {token:은/는} {key}의 말을 가장 귀담아듣습니다({weight:pct}).",
    ),
    "analogy.listens.even": (
        "In the classroom {token} listens to all alike, to {key} as to the others ({weight:pct}).",
        "교실에서 {token:은/는} 모두의 말을 똑같이 듣습니다. {key}의 말도 다른 말만큼 듣습니다({weight:pct}).",
    ),
    "analogy.library": (
        "A library or a search engine: the query is what {token} types into the search box, the keys are the titles on the shelf, "
        "the values are what stands in the books. The title of {key} fits best, so {token} gives {weight:pct} of its reading to that book.",
        "도서관이나 검색 엔진: 쿼리는 {token:이/가} 검색창에 넣는 말, 키는 책의 제목, 밸류는 책의 내용입니다. "
        "{key}의 제목이 가장 잘 맞으므로 {token:은/는} 읽기의 {weight:pct}를 그 책에 씁니다.",
    ),
    "analogy.library.even": (
        "A library or a search engine: the query is what {token} types into the search box, the keys are the titles on the shelf, "
        "the values are what stands in the books. No title fits better than another, so every book gets the same share of its "
        "reading, {key} too ({weight:pct}).",
        "도서관이나 검색 엔진: 쿼리는 {token:이/가} 검색창에 넣는 말, 키는 책의 제목, 밸류는 책의 내용입니다. "
        "더 잘 맞는 제목이 없으므로 모든 책을 똑같이 읽습니다. {key}도 마찬가지입니다({weight:pct}).",
    ),
    "analogy.three": (
        "Why one input makes three: asking, being found and handing over are three different jobs. The one embedding of {token} "
        "goes through three matrices: it asks q = {q:vec}, offers k = {k:vec} and hands over v = {v:vec}. "
        "All three come from the same sentence; that is the 'self' in self-attention.",
        "하나의 입력이 셋이 되는 까닭: 묻기, 찾아지기, 전달하기는 서로 다른 일입니다. {token}의 임베딩 하나가 행렬 셋을 지나 "
        "묻는 쿼리 {q:vec}, 내놓는 키 {k:vec}, 전달하는 밸류 {v:vec}, 이렇게 셋이 됩니다. 셋 모두 같은 문장에서 나오므로 "
        "셀프 어텐션 (self-attention)이라고 합니다.",
    ),
    # definition
    "definition": (
        "Self-attention: every token of a sentence asks the tokens of the same sentence that it may read (here {n:int}) how well "
        "they fit what it looks for, and takes home a mix of what they hand over, in those shares.",
        "셀프 어텐션 (self-attention)은 문장의 모든 토큰이 같은 문장에서 볼 수 있는 토큰(여기서는 {n:int}개)에게 찾는 것과 얼마나 맞는지 "
        "묻고, 그 몫대로 그들이 전달하는 것을 섞어 가져오는 계산입니다.",
    ),
    "definition.cross": (
        "Cross-attention: every token of one sequence asks the tokens of another that it may read (here {n:int}) how well they fit "
        "what it looks for, and takes home a mix of what they hand over, in those shares.",
        "크로스 어텐션 (cross-attention)은 한 문장의 모든 토큰이 다른 문장에서 볼 수 있는 토큰(여기서는 {n:int}개)에게 찾는 것과 얼마나 "
        "맞는지 묻고, 그 몫대로 그들이 전달하는 것을 섞어 가져오는 계산입니다.",
    ),
}


SUMMARY = {
    # name: ((English name, role, question), (Korean name, role, question))
    "embedding": (
        ("embedding", "what a token is", "What does {token} mean by itself?"),
        ("임베딩", "토큰이 무엇인지", "{token:은/는} 혼자서 무엇을 뜻하는가?"),
    ),
    "query": (
        ("query", "what it looks for", "What does {token} want to know?"),
        ("쿼리", "무엇을 찾는지", "{token:은/는} 무엇을 알고 싶은가?"),
    ),
    "key": (
        ("key", "what it can be found by", "What does each token offer {token}?"),
        ("키", "무엇으로 찾아지는지", "토큰마다 {token}에게 무엇을 내놓는가?"),
    ),
    "value": (
        ("value", "what it hands over", "What does {token} get from a token that it reads?"),
        ("밸류", "무엇을 전달하는지", "{token:은/는} 읽은 토큰에게서 무엇을 받는가?"),
    ),
    "score": (
        ("q·k", "how well the two fit", "How well does each key answer {token}?"),
        ("q·k", "둘이 얼마나 맞는지", "각 키는 {token}의 물음에 얼마나 맞는가?"),
    ),
    "softmax": (
        ("softmax", "scores into shares", "How much of its attention does {token} give to each?"),
        ("소프트맥스", "점수를 몫으로", "{token:은/는} 각각을 얼마나 참고하는가?"),
    ),
    "mix": (
        ("weights × value", "the shares, mixed", "What does {token} carry away?"),
        ("가중치 × 밸류", "몫대로 섞기", "{token:은/는} 결국 무엇을 가져가는가?"),
    ),
}

STAGE_PHRASES = {
    # stage: (formula, English, Korean); one or two sentences each, for the table of that stage
    "x": (
        "X",
        "The embeddings: one row per token.",
        "임베딩입니다. 토큰마다 한 행입니다.",
    ),
    "q": (
        "Q = X · W_Q",
        "What each token looks for.",
        "토큰마다 무엇을 찾는지를 나타냅니다(쿼리).",
    ),
    "k": (
        "K = X · W_K",
        "What each token offers to whoever asks.",
        "토큰마다 무엇을 내놓는지를 나타냅니다(키).",
    ),
    "v": (
        "V = X · W_V",
        "What each token hands over when it is read.",
        "토큰마다 읽힐 때 무엇을 전달하는지를 나타냅니다(밸류).",
    ),
    "scores": (
        "q · k",
        "How well each query (row) fits each key (column): multiply dimension by dimension, add up.",
        "각 쿼리(행)와 각 키(열)가 얼마나 맞는지, 차원마다 곱해 더한 내적입니다.",
    ),
    "scaled": (
        "q · k ÷ √d_k",
        "The scores made comparable, whatever the number of dimensions.",
        "차원 수와 관계없이 비교할 수 있도록 점수를 맞춘 것입니다(스케일링).",
    ),
    "allowed": (
        "mask",
        "Who may read whom: ● may be read, · is hidden.",
        "누가 누구를 볼 수 있는지입니다: ● 볼 수 있음, · 가려짐.",
    ),
    "weights": (
        "softmax",
        "The scores of each row as shares that sum to 1.",
        "각 행의 점수를 합이 1인 몫으로 바꾼 어텐션 가중치입니다.",
    ),
    "weighted_values": (
        "weight × v",
        "What each key hands over to the query: its value, as much of it as its weight.",
        "각 키가 쿼리에게 전달하는 것, 곧 밸류를 가중치만큼 줄인 것입니다.",
    ),
    "mixed": (
        "weights · V",
        "The weighted sum of the values, for each head.",
        "헤드마다 밸류를 가중치대로 더한 가중합입니다.",
    ),
    "output": (
        "output",
        "What each token takes home: a vector with its context in it.",
        "토큰마다 가져가는 결과, 곧 문맥이 담긴 벡터(문맥 벡터)입니다.",
    ),
}
