"""What the checker says: of each mistake its name, what it is, a hint and a fix; English and Korean on adjacent lines."""

from __future__ import annotations

__all__ = ["CONSEQUENCES", "DETAILS", "ERRORS", "FIXES", "HINTS", "MISTAKE_NAMES", "REMARKS", "SAID", "SEEN"]

MISTAKE_NAMES = {
    "no-scale": ("the scores are not divided by √d_k", "점수를 √d_k로 나누지 않았습니다"),
    "scale-by-dk": ("the scores are divided by d_k, not by √d_k", "점수를 √d_k가 아니라 d_k로 나누었습니다"),
    "scale-by-sqrt-dmodel": (
        "the scores are divided by the root of another size, not of the width of one head",
        "점수를 헤드 하나의 너비가 아닌 다른 크기의 제곱근으로 나누었습니다",
    ),
    "scale-multiplied": (
        "the scores are multiplied by the scale instead of divided by it",
        "점수를 나누는 대신 곱했습니다",
    ),
    "scale-after-softmax": ("the division by √d_k comes after the softmax", "√d_k로 나누기를 소프트맥스 뒤에 했습니다"),
    "softmax-axis": ("the softmax runs over the wrong axis", "소프트맥스를 다른 축에서 했습니다"),
    "softmax-twice": ("the softmax is taken twice", "소프트맥스를 두 번 했습니다"),
    "softmax-missing": ("something else stands where the softmax belongs", "소프트맥스 자리에 다른 계산이 있습니다"),
    "wrong-triangle": ("the past is hidden and the future is shown", "과거를 가리고 미래를 보여 주었습니다"),
    "causal-off-by-one": ("the causal mask is off by one", "인과 마스크 (causal mask)가 한 칸 어긋났습니다"),
    "mask-after-softmax": ("the mask comes after the softmax", "마스크를 소프트맥스 뒤에 씌웠습니다"),
    "mask-finite": (
        "hidden scores get a number that is not small enough, instead of -∞",
        "가려진 점수에 -∞ 대신 충분히 작지 않은 수를 넣었습니다",
    ),
    "mask-inverted": ("the mask's True is taken to mean the opposite", "마스크의 True를 반대 뜻으로 읽었습니다"),
    "mask-ignored": ("the mask is not used", "마스크를 쓰지 않았습니다"),
    "padding-on-query": (
        "the mask is laid on the query axis instead of the key axis",
        "마스크를 키 축이 아니라 쿼리 축에 씌웠습니다",
    ),
    "zeros-masked": ("scores that are truly 0 are treated as hidden", "정말로 0인 점수를 가려진 것으로 다루었습니다"),
    "heads-ignored": (
        "the width is not cut into heads: it is one head, as wide as all of them",
        "너비를 헤드로 나누지 않고 넓은 헤드 하나로 계산했습니다",
    ),
    "heads-reshaped": (
        "the heads are cut or joined by reshape without a transpose",
        "헤드를 축을 바꾸지 않고 reshape만으로 나누거나 이어 붙였습니다",
    ),
    "keys-as-values": ("the values are not what is mixed", "밸류가 아닌 것을 섞었습니다"),
    "q-k-swapped": ("queries and keys have changed places", "쿼리와 키의 자리가 바뀌었습니다"),
    "one-projection": (
        "the same matrix is used for two of Q, K and V",
        "Q, K, V 가운데 둘 이상에 같은 행렬을 썼습니다",
    ),
    "missing-transpose": ("q·k stands where q·kᵀ belongs", "q·kᵀ여야 할 곳이 q·k입니다"),
    "overflow": (
        "e to the power of a score becomes too large: the row's maximum is not taken off first",
        "행의 최댓값을 먼저 빼지 않아 e의 거듭제곱이 너무 커집니다",
    ),
    "nan-row": ("a row in which nothing is allowed becomes NaN", "볼 수 있는 것이 없는 행이 NaN이 됩니다"),
    "dropout-at-eval": ("dropout is active at evaluation", "평가할 때도 드롭아웃이 켜져 있습니다"),
    "weights-returned": (
        "the attention weights are returned in place of the output",
        "출력 대신 어텐션 가중치를 돌려주었습니다",
    ),
    "input-changed": ("an argument is changed in place", "받은 인자를 그 자리에서 바꾸었습니다"),
}

HINTS = {
    "no-scale": (
        "Take vectors twice as wide: how large do the scores get? What keeps them the same size?",
        "벡터의 너비가 두 배가 되면 점수는 얼마나 커집니까? 무엇이 그 크기를 지켜 줍니까?",
    ),
    "scale-by-dk": (
        "A sum of d_k independent terms grows by a power of d_k. By which?",
        "서로 독립인 항 d_k개를 더하면 합의 크기는 d_k의 몇 제곱으로 커집니까?",
    ),
    "scale-by-sqrt-dmodel": (
        "How many products are added up in one score? Count them in one head.",
        "점수 하나에서 몇 개의 곱을 더합니까? 헤드 하나 안에서 세어 보십시오.",
    ),
    "scale-multiplied": (
        "Is the scale there to make the scores larger or smaller?",
        "스케일링은 점수를 키우려는 것입니까, 줄이려는 것입니까?",
    ),
    "scale-after-softmax": (
        "Add up one row of your weights. What should it give?",
        "가중치 한 행을 더해 보십시오. 얼마가 되어야 합니까?",
    ),
    "softmax-axis": (
        "Which numbers should sum to 1: those of one query over all keys, or others?",
        "합이 1이 되어야 하는 것은 무엇입니까? 한 쿼리가 모든 키에 주는 가중치입니까, 다른 것입니까?",
    ),
    "softmax-twice": (
        "Look at how even your weights are. How often do the scores go through a softmax on their way?",
        "가중치가 얼마나 고른지 보십시오. 점수는 소프트맥스를 몇 번 거칩니까?",
    ),
    "softmax-missing": (
        "What must hold of the weights in a row, also where a score is negative?",
        "점수가 음수일 때도 한 행의 가중치는 무엇을 지켜야 합니까?",
    ),
    "wrong-triangle": (
        "Print the mask for four tokens. What may the first token read?",
        "토큰 네 개의 마스크를 출력해 보십시오. 첫 토큰은 무엇을 볼 수 있습니까?",
    ),
    "causal-off-by-one": (
        "Look at the diagonal of the mask: may a token read itself? May it read the next one?",
        "마스크의 대각선을 보십시오. 토큰은 자기 자신을 볼 수 있습니까? 다음 토큰은 어떻습니까?",
    ),
    "mask-after-softmax": (
        "Add up a row of weights after your mask. Where did the rest go?",
        "마스크를 씌운 뒤 가중치 한 행을 더해 보십시오. 나머지는 어디로 갔습니까?",
    ),
    "mask-finite": (
        "What is e to the power of the number that you put there? Is it 0?",
        "거기에 넣은 수를 e의 지수로 올리면 얼마입니까? 0입니까?",
    ),
    "mask-inverted": (
        "Take a mask with a single True. Is that key read, or is it the only one that is not?",
        "True가 하나뿐인 마스크를 써 보십시오. 그 키만 참고합니까, 그 키만 빼고 참고합니까?",
    ),
    "mask-ignored": (
        "Change the mask. Does the output change?",
        "마스크를 바꿔 보십시오. 출력이 달라집니까?",
    ),
    "mask-ignored causal": (
        "Change the last token only. Does an earlier row of the output change?",
        "마지막 토큰만 바꿔 보십시오. 그 앞의 행이 달라집니까?",
    ),
    "padding-on-query": (
        "A padding token must not be read. Is it a row or a column of the table that has to go?",
        "패딩 토큰은 읽히면 안 됩니다. 표에서 가려야 할 것은 행입니까, 열입니까?",
    ),
    "zeros-masked": (
        "Can a score be 0 without being hidden? Take a query and a key at a right angle.",
        "가려지지 않았는데 점수가 0일 수 있습니까? 서로 직각인 쿼리와 키를 생각해 보십시오.",
    ),
    "heads-ignored": (
        "How many rows of weights does one token get? There should be one for each head.",
        "토큰 하나에 가중치 행이 몇 개 생깁니까? 헤드마다 하나씩 있어야 합니다.",
    ),
    "heads-reshaped": (
        "Number the entries of one token 0, 1, 2, … and print what each head gets.",
        "한 토큰의 성분에 0, 1, 2, … 번호를 매기고 헤드마다 무엇을 받는지 출력해 보십시오.",
    ),
    "keys-as-values": (
        "Change only the values. Does the output change?",
        "밸류만 바꿔 보십시오. 출력이 달라집니까?",
    ),
    "q-k-swapped": (
        "In row i of the table, who asks and who is read?",
        "표의 i번째 행에서 묻는 것은 누구이고 읽히는 것은 누구입니까?",
    ),
    "one-projection": (
        "Change W_Q, W_K and W_V one at a time. Which one changes nothing?",
        "W_Q, W_K, W_V를 하나씩 바꿔 보십시오. 바꿔도 달라지지 않는 것은 무엇입니까?",
    ),
    "missing-transpose": (
        "Write the shapes under the product: (n, d)·(?, ?) must give (n, m). Try n different from d.",
        "곱 아래에 모양을 써 보십시오. (n, d)·(?, ?)가 (n, m)이 되어야 합니다. n과 d를 다르게 해 보십시오.",
    ),
    "overflow": (
        "What is e to the power of 1,000 on a computer? And does a softmax change when a number is taken off a whole row?",
        "컴퓨터에서 e의 1,000제곱은 얼마입니까? 그리고 한 행에서 같은 수를 빼면 소프트맥스가 달라집니까?",
    ),
    "nan-row": (
        "What does 0 / 0 give? In which row is every key hidden?",
        "0 / 0은 얼마입니까? 모든 키가 가려진 행은 어느 것입니까?",
    ),
    "dropout-at-eval": (
        "Call it twice with the same input. Should the answers differ?",
        "같은 입력으로 두 번 불러 보십시오. 답이 달라야 합니까?",
    ),
    "weights-returned": (
        "What shape should come back: one number for each pair of tokens, or one vector for each token?",
        "무엇이 나와야 합니까? 토큰 쌍마다 수 하나입니까, 토큰마다 벡터 하나입니까?",
    ),
    "input-changed": (
        "Print the arguments before and after the call.",
        "부르기 전과 후에 인자를 출력해 보십시오.",
    ),
}

FIXES = {
    "no-scale": ("scores / sqrt(q.shape[-1])", "scores / sqrt(q.shape[-1])"),
    "scale-by-dk": ("Divide by the root: scores / sqrt(d_k).", "제곱근으로 나누십시오: scores / sqrt(d_k)."),
    "scale-by-sqrt-dmodel": (
        "Divide by the root of the width of one head: sqrt(q.shape[-1]) after the heads are cut.",
        "헤드 하나의 너비의 제곱근으로 나누십시오: 헤드를 나눈 뒤의 sqrt(q.shape[-1]).",
    ),
    "scale-multiplied": ("Divide: scores / sqrt(d_k).", "나누십시오: scores / sqrt(d_k)."),
    "scale-after-softmax": (
        "Divide the scores, then take the softmax: softmax(scores / sqrt(d_k)).",
        "점수를 먼저 나누고 소프트맥스를 하십시오: softmax(scores / sqrt(d_k)).",
    ),
    "softmax-axis": (
        "Run it over the keys, the last axis: axis=-1 (dim=-1).",
        "마지막 축인 키에서 하십시오: axis=-1 (dim=-1).",
    ),
    "softmax-twice": ("Take it once.", "한 번만 하십시오."),
    "softmax-missing": (
        "weights = exp(scores) / sum of exp(scores) over the keys (take the row's maximum off first).",
        "weights = exp(scores) / (키에 대한 exp(scores)의 합). 행의 최댓값을 먼저 빼십시오.",
    ),
    "wrong-triangle": (
        "Query i may read key j where j <= i: tril(ones(n, n)) is what may be read.",
        "쿼리 i는 j <= i인 키 j를 볼 수 있습니다. tril(ones(n, n))이 볼 수 있는 것입니다.",
    ),
    "causal-off-by-one": (
        "j <= i: itself and what came before. tril(…) with diagonal 0 shows it, triu(…) with diagonal 1 is what to hide.",
        "j <= i, 곧 자기 자신과 앞의 것입니다. 볼 것은 대각선 0의 tril(…), 가릴 것은 대각선 1의 triu(…)입니다.",
    ),
    "mask-after-softmax": (
        "Put -∞ at the hidden scores, then take the softmax.",
        "가려질 점수를 -∞로 만든 다음 소프트맥스를 하십시오.",
    ),
    "mask-finite": ("Put -inf there.", "그 자리에 -inf를 넣으십시오."),
    "mask-inverted": (
        "Turn the condition round (~mask). Here True means: may be read, as in scaled_dot_product_attention. "
        'nn.MultiheadAttention says it the other way; if you mean that, check with mask="hidden".',
        "조건을 뒤집으십시오(~mask). 여기서 True는 볼 수 있다는 뜻이고 scaled_dot_product_attention도 그렇습니다. "
        'nn.MultiheadAttention은 반대입니다. 그 뜻으로 썼다면 mask="hidden"으로 검사하십시오.',
    ),
    "mask-ignored": (
        "Put -∞ at the scores that the mask hides, before the softmax.",
        "소프트맥스를 하기 전에 마스크가 가리는 점수를 -∞로 만드십시오.",
    ),
    "mask-ignored causal": (
        "Query i may read key j where j <= i: put -∞ at all other scores, before the softmax.",
        "쿼리 i는 j <= i인 키 j만 볼 수 있습니다. 소프트맥스를 하기 전에 다른 점수를 모두 -∞로 만드십시오.",
    ),
    "padding-on-query": (
        "Hide columns, not rows: mask[..., None, :], not mask[..., :, None].",
        "행이 아니라 열을 가리십시오: mask[..., :, None]이 아니라 mask[..., None, :].",
    ),
    "zeros-masked": (
        "Ask the mask, not the score: where(mask, scores, -inf).",
        "점수가 아니라 마스크로 판단하십시오: where(mask, scores, -inf).",
    ),
    "heads-ignored": (
        "Cut q, k and v before the scores: reshape (n, heads, d), transpose to (heads, n, d). Each head has its own row of weights; "
        "join the outputs at the end.",
        "점수를 구하기 전에 q, k, v를 나누십시오: reshape (n, heads, d) → 축을 바꿔 (heads, n, d). 헤드마다 가중치 행이 따로 있고, "
        "출력은 마지막에 이어 붙입니다.",
    ),
    "heads-reshaped": (
        "(n, heads·d) → reshape (n, heads, d) → transpose to (heads, n, d); back the same way in reverse.",
        "(n, heads·d) → reshape (n, heads, d) → 축을 바꿔 (heads, n, d). 돌아올 때는 그 반대 순서입니다.",
    ),
    "keys-as-values": ("weights @ v", "weights @ v"),
    "q-k-swapped": ("q @ kᵀ: rows are queries, columns are keys.", "q @ kᵀ: 행은 쿼리, 열은 키입니다."),
    "one-projection": ("q = x @ w_q, k = x @ w_k, v = x @ w_v", "q = x @ w_q, k = x @ w_k, v = x @ w_v"),
    "missing-transpose": (
        "q @ k.T, with a batch q @ swapaxes(k, -1, -2).",
        "q @ k.T. 배치가 있으면 q @ swapaxes(k, -1, -2).",
    ),
    "overflow": (
        "exp(scores - scores.max(axis=-1, keepdims=True))",
        "exp(scores - scores.max(axis=-1, keepdims=True))",
    ),
    "nan-row": (
        "Give such a row weights of 0: where(allowed.any(axis=-1, keepdims=True), weights, 0).",
        "그런 행의 가중치는 0으로 하십시오: where(allowed.any(axis=-1, keepdims=True), weights, 0).",
    ),
    "dropout-at-eval": (
        "Use nn.Dropout, or F.dropout(w, p, training=self.training).",
        "nn.Dropout을 쓰거나 F.dropout(w, p, training=self.training)으로 하십시오.",
    ),
    "weights-returned": ("return weights @ v", "return weights @ v"),
    "input-changed": (
        "Make a new array: q = q / c instead of q /= c.",
        "새 배열을 만드십시오: q /= c 대신 q = q / c.",
    ),
}

DETAILS = {
    "axis": ("It is the root of {name} that stands there.", "거기 있는 것은 {name}의 크기입니다."),
    "values k": ("The keys stand where the values belong.", "밸류 자리에 키가 있습니다."),
    "values q": ("The queries stand where the values belong.", "밸류 자리에 쿼리가 있습니다."),
    "roles": ("q, k and v are made by {name}.", "q, k, v를 만든 행렬은 차례로 {name}입니다."),
    "reshaped": (
        "A reshape to (d, n) fits, but it deals the numbers out anew; a transpose keeps each key together.",
        "(d, n)으로 reshape하면 모양은 맞지만 수의 자리가 섞입니다. 전치는 키마다 제 수를 그대로 둡니다.",
    ),
    "heads split": ("It happens where the width is cut into heads.", "너비를 헤드로 나누는 곳에서 일어납니다."),
    "heads join": ("It happens where the heads are joined.", "헤드를 이어 붙이는 곳에서 일어납니다."),
    "softmax queries": (
        "It runs over the queries: columns sum to 1, not rows.",
        "쿼리 축에서 했습니다. 행이 아니라 열의 합이 1입니다.",
    ),
    "softmax heads": ("It runs over the heads.", "헤드 축에서 했습니다."),
    "softmax batch": ("It runs over the batch.", "배치 축에서 했습니다."),
    "softmax all": ("It runs over the whole table at once.", "표 전체에서 한꺼번에 했습니다."),
    "softmax top": (
        "The sum is that of a row, but the maximum taken off is that of a column: what is taken off must be one number for a whole row.",
        "합은 행의 합인데 뺀 최댓값은 열의 최댓값입니다. 한 행에서는 모두 같은 수를 빼야 합니다.",
    ),
    "value": ("The number is {name}.", "그 수는 {name}입니다."),
    "off-by-one past": ("A token cannot read itself.", "토큰이 자기 자신을 볼 수 없습니다."),
    "off-by-one ahead": ("A token reads one that comes after it.", "토큰이 하나 뒤의 것까지 봅니다."),
    "ignored causal": ("Every token reads the future.", "모든 토큰이 미래를 봅니다."),
    "changed": ("It is {name} that changes.", "바뀌는 것은 {name}입니다."),
    "numerics global": (
        "The maximum of the whole table is taken off, not each row's: a row far below it becomes 0 / 0.",
        "행마다가 아니라 표 전체의 최댓값을 뺐습니다. 그보다 훨씬 작은 행은 0 / 0이 됩니다.",
    ),
    "missing scores": ("The scores themselves are used as weights.", "점수를 그대로 가중치로 썼습니다."),
    "missing scores-zeroed": ("The scores themselves are used as weights.", "점수를 그대로 가중치로 썼습니다."),
    "missing shares": (
        "The scores are divided by their sum, without e to the power.",
        "e의 거듭제곱 없이 점수를 그 합으로 나누었습니다.",
    ),
    "missing shares-inf": (
        "The scores are divided by their sum, without e to the power.",
        "e의 거듭제곱 없이 점수를 그 합으로 나누었습니다.",
    ),
    "missing exp": (
        "e to the power is there, the division by the sum is not.",
        "e의 거듭제곱은 있는데 합으로 나누기가 없습니다.",
    ),
    "missing exp-top": (
        "e to the power is there, the division by the sum is not.",
        "e의 거듭제곱은 있는데 합으로 나누기가 없습니다.",
    ),
    "missing log": (
        "It is the logarithm of the softmax: e to the power of it is still to be taken.",
        "소프트맥스의 로그입니다. e의 지수로 올리는 일이 남았습니다.",
    ),
    "missing sigmoid": ("It is a sigmoid, each score by itself.", "점수마다 따로 계산하는 시그모이드입니다."),
}

CONSEQUENCES = {
    "rows": ("rows of weights do not sum to 1", "가중치 행의 합이 1이 아닙니다"),
    "future": ("the future changes the past", "미래가 과거를 바꿉니다"),
    "nan": ("NaN or infinity in the output", "출력에 NaN이나 무한대가 생깁니다"),
    "order": ("the order of the keys matters", "키의 순서에 따라 결과가 달라집니다"),
    "shape": ("the output has another shape", "출력의 모양이 다릅니다"),
    "sizes": ("it only runs where some sizes are equal", "몇몇 크기가 같을 때만 돌아갑니다"),
}

REMARKS = {
    "einsum": ("products by einsum", "곱을 einsum으로 썼습니다"),
    "exp-over-sum": (
        "softmax as exp over sum, with the maximum taken off first",
        "소프트맥스를 최댓값을 먼저 뺀 exp와 합으로 썼습니다",
    ),
    "log-softmax": ("softmax by way of its logarithm", "소프트맥스를 로그를 거쳐 썼습니다"),
    "folded": ("the scale is folded into q or k before the product", "곱하기 전에 스케일을 q나 k에 넣었습니다"),
    "fused": ("PyTorch's own attention does the work", "PyTorch의 어텐션 함수가 계산합니다"),
    "loops": ("loops over tokens or heads", "토큰이나 헤드를 반복문으로 돕니다"),
    "additive": ("the mask is added to the scores", "마스크를 점수에 더합니다"),
    "added": (
        "the mask is a table of numbers to add (0 and -∞), not of booleans",
        "마스크가 불리언이 아니라 더할 수(0과 -∞)의 표입니다",
    ),
    "finite": (
        "a large negative number instead of -∞: a row with nothing allowed still gets weights",
        "-∞ 대신 아주 작은 음수를 썼습니다. 볼 것이 없는 행에도 가중치가 생깁니다",
    ),
    "value": (
        "{name} instead of -∞: it holds as long as scores are far smaller in size",
        "-∞ 대신 {name}을 썼습니다. 점수의 크기가 그보다 훨씬 작은 동안만 맞습니다",
    ),
    "zero-row": ("weights of 0 in a row with nothing allowed", "볼 것이 없는 행의 가중치를 0으로 합니다"),
    "other-row": (
        "right in every row that may read something; in a row with nothing allowed the weights are neither 0 nor shares that sum to 1",
        "볼 것이 있는 행은 모두 맞습니다. 볼 것이 없는 행의 가중치는 0도 아니고 합이 1도 아닙니다",
    ),
    "renormalised": (
        "the mask comes after e to the power, and the row is divided by its sum again (0 / 0 where hidden scores are far larger)",
        "e의 거듭제곱 뒤에 마스크를 씌우고 행을 다시 합으로 나눕니다(가려진 점수가 훨씬 크면 0 / 0이 됩니다)",
    ),
    "heads-interleaved": (
        "heads take every n-th column instead of a block of columns",
        "헤드가 연속한 열이 아니라 건너뛴 열을 가져갑니다",
    ),
    "weights-first": ("weights come back before the output", "출력보다 가중치를 먼저 돌려줍니다"),
    "other-returned": (
        "what comes back beside the output is not the weights",
        "출력과 함께 돌려준 것이 가중치가 아닙니다",
    ),
    "turned": ("matrices are taken as (d_out, d_in)", "행렬을 (d_out, d_in)으로 받습니다"),
    "hidden": ("the mask's True means hidden", "마스크의 True가 가린다는 뜻입니다"),
    "half": (
        "it does not run in half precision, or loses digits there",
        "반정밀도(float16)에서는 돌아가지 않거나 정확하지 않습니다",
    ),
    "sizes": ("it only runs where some sizes are equal", "몇몇 크기가 같을 때만 돌아갑니다"),
    "no-gradient": ("no gradient flows through it: it cannot be trained", "기울기가 흐르지 않아 학습할 수 없습니다"),
    "two-axes": (
        "for two axes (token, width) only; a batch gives something else",
        "축이 둘(토큰, 너비)일 때만 맞고 배치에는 맞지 않습니다",
    ),
}

SEEN = {
    "given-back": ("{name} comes back just as it was given", "{name:을/를} 받은 그대로 돌려주었습니다"),
}

SAID = {
    "right": ("right", "맞습니다"),
    "right-differently": ("right, but written differently", "맞습니다. 다르게 썼을 뿐입니다"),
    "mistake": ("a mistake", "실수가 있습니다"),
    "mistakes": ("{n} mistakes together", "실수가 {n}개 함께 있습니다"),
    "one-of": (
        "one of these; the cases cannot tell which",
        "다음 가운데 하나입니다. 어느 것인지는 결과로 가릴 수 없습니다",
    ),
    "unknown": (
        "not right, and no mistake that jumok knows explains all of it",
        "맞지 않는데, jumok이 아는 실수로는 설명되지 않습니다",
    ),
    "failed": ("the code could not be run to its end", "코드가 끝까지 돌아가지 않았습니다"),
    "line": ("line {line}: {text}", "{line}번째 줄: {text}"),
    "consequences": ("So: {some}.", "그래서: {some}."),
    "hint": ("Hint: {text}", "힌트: {text}"),
    "fix": ("Fix: {text}", "고치기: {text}"),
    "more": (
        "(the fix: --fix, in Python verdict.text(fix=True))",
        "(고치는 법: --fix, Python에서는 verdict.text(fix=True))",
    ),
    "example": (
        "The smallest example that shows it ({what}rounded to 3 decimals):",
        "이것을 보여 주는 가장 작은 예({what}소수 셋째 자리까지 반올림):",
    ),
    "case extreme": ("scaled scores up to 10,000; ", "점수가 10,000까지, "),
    "case empty": ("a row may read nothing; ", "볼 것이 없는 행이 있음, "),
    "allowed": ("may be read", "볼 수 있음"),
    "expected": ("expected", "나와야 할 것"),
    "got": ("got", "나온 것"),
    "error": ("error", "오류"),
    "printed": ("It printed: {text}", "출력한 것: {text}"),
    "form": ("Called as {form}.", "부른 방식: {form}."),
    "variables": ("The shapes there: {some}.", "그때의 모양: {some}."),
}

ERRORS = {
    "time": (
        "It did not come to an end within {seconds} seconds of computing. Is there a loop whose condition never turns false?",
        "계산 {seconds}초 안에 끝나지 않았습니다. 조건이 끝내 거짓이 되지 않는 반복문이 있습니까?",
    ),
    "wall": (
        "It did not come to an end within {seconds} seconds. Does it wait for something, or sleep?",
        "{seconds}초 안에 끝나지 않았습니다. 무엇을 기다리거나 sleep을 합니까?",
    ),
    "refused": (
        "A process of its own could not be started for the code. Is there room in the folder for temporary files?",
        "코드를 실행할 별도의 프로세스를 시작하지 못했습니다. 임시 파일 폴더에 공간이 있습니까?",
    ),
    "output": (
        "It prints without end. Take the print out of the loop.",
        "출력이 끝나지 않습니다. 반복문에서 print를 빼십시오.",
    ),
    "crash": (
        "Python itself came down ({signal}). That comes from compiled code or from memory that was written over.",
        "파이썬이 비정상으로 끝났습니다({signal}). 컴파일된 코드나 잘못 건드린 메모리 때문입니다.",
    ),
    "killed": (
        "The process of the code was ended by a signal ({signal}). Code does that to itself with os.kill, or the system does it "
        "where memory runs out; an attention needs neither.",
        "코드를 실행하던 프로세스가 시그널({signal})을 받고 끝났습니다. 코드가 os.kill로 스스로 끝냈거나, 메모리가 모자라 시스템이 끝냈습니다. "
        "어텐션에는 둘 다 필요 없습니다.",
    ),
    "exit": (
        "The code ended Python (exit, quit, sys.exit or os._exit). A function returns instead.",
        "코드가 파이썬을 끝냈습니다(exit, quit, sys.exit, os._exit). 함수는 값을 돌려주어야 합니다.",
    ),
    "missing": (
        "The package {name} is not installed here. The code can use the packages of this Python and the files beside it.",
        "{name} 패키지가 없습니다. jumok은 이 파이썬의 패키지와 옆에 있는 파일만 쓸 수 있게 합니다.",
    ),
    "memory": (
        "It asks for more memory than the {size} that a check allows; these inputs have at most 7 tokens.",
        "검사에 주어진 메모리 {size}보다 많이 요구합니다. 검사 입력은 많아야 토큰 7개입니다.",
    ),
    "input": (
        "It reads from the keyboard (input or stdin); in a check there is nothing to read.",
        "키보드(input이나 stdin)를 읽습니다. 검사에서는 읽을 것이 없습니다.",
    ),
    "syntax": ("Python cannot read the file.", "파이썬이 파일을 읽지 못합니다."),
    "uncallable": (
        "There is no function here: {name} cannot be called. Write one, such as def attention(q, k, v): …",
        "부를 수 있는 함수가 없습니다: {name}. def attention(q, k, v): …처럼 함수를 쓰십시오.",
    ),
    "shapes-elsewhere": (
        "Shapes do not fit together on this line. Write the axes of each variable beside it: which of them is not as you thought?",
        "이 줄에서 모양이 맞지 않습니다. 변수마다 축을 옆에 써 보십시오. 생각과 다른 축은 어느 것입니까?",
    ),
    "shapes": (
        "Two shapes do not fit together. Write the axes of each under it; the last axis of the left must be the last but one of the right. "
        "Is a transpose missing?",
        "두 모양이 맞지 않습니다. 각각의 축을 아래에 써 보십시오. 왼쪽의 마지막 축과 오른쪽의 끝에서 둘째 축이 같아야 합니다. 전치가 빠졌습니까?",
    ),
    "name": ("A name is used that was not given a value.", "값을 준 적이 없는 이름을 썼습니다."),
    "returned": (
        "What the function returned is no array of real numbers. A text, complex numbers, and what async def gives are none.",
        "함수가 돌려준 것이 실수의 배열이 아닙니다. 글, 복소수, async def로 쓴 함수가 돌려주는 것은 판정할 수 없습니다.",
    ),
    "arguments": ("It is called with other arguments than it takes.", "받는 인자와 다르게 불렀습니다."),
    "none": (
        "The function returned nothing. Is the return missing?",
        "함수가 아무것도 돌려주지 않았습니다. return이 빠졌습니까?",
    ),
    "processes": (
        "It starts more processes or threads than a check allows.",
        "검사에서 허용하는 것보다 많은 프로세스나 스레드를 시작합니다.",
    ),
    "file": ("It writes a larger file than a check allows.", "검사에서 허용하는 것보다 큰 파일을 씁니다."),
    "other": ("The code raised an error.", "코드에서 오류가 났습니다."),
}
