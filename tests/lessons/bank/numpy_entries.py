"""The NumPy half of the bank: what each file of numpy_code/ is."""

from . import Entry

ONE_MISTAKE = (
    Entry("numpy_code/s01.py", "self_attention", mistakes=("no-scale",), note="matrices, output only"),
    Entry("numpy_code/s02.py", "batched", mistakes=("no-scale",), note="einsum, batch, output and weights"),
    Entry("numpy_code/s03.py", "multi_head_attention", mistakes=("no-scale",), note="heads by reshape and transpose"),
    Entry("numpy_code/s04.py", "어텐션", mistakes=("no-scale",), note="한국어 이름, 반복문"),
    Entry("numpy_code/s05.py", "scaled_dot_product_attention", mistakes=("scale-by-dk",), note="textbook names"),
    Entry("numpy_code/s06.py", "attention", mistakes=("scale-by-dk",), note="batch, mask, scale as a factor"),
    Entry("numpy_code/s07.py", "scale", mistakes=("scale-by-dk",), note="only the scale"),
    Entry("numpy_code/s08.py", "MultiHead", mistakes=("scale-by-sqrt-dmodel",), note="a class, √d_model with heads"),
    Entry(
        "numpy_code/s09.py",
        "attend",
        mistakes=("scale-by-sqrt-dmodel",),
        note="width of x instead of the keys', weights first",
    ),
    Entry("numpy_code/s10.py", "attention", mistakes=("scale-by-sqrt-dmodel",), note="√ of the number of keys"),
    Entry("numpy_code/s11.py", "dot_product_attention", mistakes=("scale-multiplied",), note="multiplied, batch"),
    Entry("numpy_code/s12.py", "attn", mistakes=("scale-multiplied",), note="divided by d ** -0.5"),
    Entry("numpy_code/s13.py", "attention", mistakes=("scale-after-softmax",), note="weights divided"),
    Entry("numpy_code/s14.py", "self_attention", mistakes=("scale-after-softmax",), note="the output divided"),
    Entry("numpy_code/s15.py", "attention", mistakes=("softmax-axis",), note="axis 0 of one table"),
    Entry(
        "numpy_code/s16.py", "attention", mistakes=("softmax-axis",), note="axis 1 kept from the time without a batch"
    ),
    Entry("numpy_code/s17.py", "multihead", mistakes=("softmax-axis",), note="over the heads"),
    Entry("numpy_code/s18.py", "scaled_attention", mistakes=("softmax-axis",), note="over the whole table, no axis"),
    Entry("numpy_code/s19.py", "softmax", mistakes=("softmax-axis",), note="only the softmax"),
    Entry("numpy_code/s20.py", "attention", mistakes=("softmax-twice",), note="a helper already did it"),
    Entry("numpy_code/s21.py", "attention", mistakes=("softmax-missing",), note="scores as they are"),
    Entry("numpy_code/s22.py", "self_attention", mistakes=("softmax-missing",), note="divided by the row's sum"),
    Entry("numpy_code/s23.py", "causal_attention", mistakes=("wrong-triangle",), note="triu where tril was meant"),
    Entry(
        "numpy_code/s24.py",
        "masked_self_attention",
        mistakes=("wrong-triangle",),
        kind="causal",
        note="additive, the past gets the -1e9",
    ),
    Entry(
        "numpy_code/s25.py",
        "causal_attention",
        mistakes=("wrong-triangle",),
        note="where with its branches in the wrong order: exactly the future is read",
    ),
    Entry("numpy_code/s26.py", "causal_attention", mistakes=("causal-off-by-one",), note="itself hidden"),
    Entry(
        "numpy_code/s27.py",
        "causal_self_attention",
        mistakes=("causal-off-by-one",),
        note="one token of the future shown",
    ),
    Entry("numpy_code/s28.py", "causal", mistakes=("causal-off-by-one",), note="a loop whose range ends one too late"),
    Entry("numpy_code/s29.py", "attention", mistakes=("mask-after-softmax",), note="weights times mask"),
    Entry("numpy_code/s30.py", "causal_attention", mistakes=("mask-after-softmax",), note="tril of the weights"),
    Entry("numpy_code/s31.py", "scaled_dot_product", mistakes=("mask-finite",), note="scores times mask"),
    Entry("numpy_code/s32.py", "attention", mistakes=("mask-finite",), note="1e-9 for -1e9"),
    Entry("numpy_code/s33.py", "causal_attention", mistakes=("mask-finite",), note="minus 100 added"),
    Entry(
        "numpy_code/s34.py", "attention", mistakes=("mask-inverted",), note="a plain mask, where() the wrong way round"
    ),
    Entry("numpy_code/s35.py", "attention", mistakes=("mask-inverted",), note="valid lengths, the padding is read"),
    Entry("numpy_code/s36.py", "attention", mistakes=("mask-ignored",), note="the result of where() is dropped"),
    Entry(
        "numpy_code/s37.py",
        "scaled_dot_product_attention",
        mistakes=("mask-ignored",),
        note="the wrong variable goes on",
    ),
    Entry(
        "numpy_code/s38.py",
        "self_attention",
        mistakes=("padding-on-query",),
        note="a padding mask laid over the queries",
    ),
    Entry(
        "numpy_code/s39.py",
        "self_attention",
        mistakes=("padding-on-query",),
        note="valid lengths, the loop blanks rows",
    ),
    Entry("numpy_code/s40.py", "attention", mistakes=("zeros-masked",), note="0 stands for masked"),
    Entry(
        "numpy_code/s41.py",
        "causal_attention",
        mistakes=("zeros-masked",),
        note="tril of the scores, then zeros to -1e9",
    ),
    Entry(
        "numpy_code/s42.py",
        "multi_head_attention",
        mistakes=("heads-reshaped",),
        note="split and joined without transpose",
    ),
    Entry("numpy_code/s43.py", "mha", mistakes=("heads-reshaped",), note="joined without transpose"),
    Entry("numpy_code/s44.py", "attention", mistakes=("keys-as-values",), note="the keys are mixed"),
    Entry("numpy_code/s45.py", "셀프_어텐션", mistakes=("q-k-swapped",), note="키에서 쿼리로"),
    Entry("numpy_code/s46.py", "self_attention", mistakes=("one-projection",), note="a line copied and not changed"),
    Entry(
        "numpy_code/s47.py",
        "SelfAttention",
        mistakes=("one-projection",),
        note="a class, queries made with the keys' matrix",
    ),
    Entry("numpy_code/s48.py", "attention", mistakes=("missing-transpose",), note="q @ k, runs where n = d"),
    Entry("numpy_code/s49.py", "attention", mistakes=("overflow",), note="e to the score as it is"),
    Entry("numpy_code/s50.py", "softmax", mistakes=("overflow",), note="only the softmax, one row after another"),
    Entry("numpy_code/s51.py", "multihead_attention", mistakes=("overflow",), note="one head after another"),
    Entry("numpy_code/s52.py", "attention", mistakes=("nan-row",), note="minus infinity in a whole row"),
    Entry(
        "numpy_code/s53.py",
        "scaled_dot_product_attention",
        mistakes=("nan-row",),
        note="minus infinity by index, heads",
    ),
    Entry(
        "numpy_code/s54.py", "attention", mistakes=("dropout-at-eval",), note="training is asked for and not looked at"
    ),
    Entry("numpy_code/s55.py", "attention", mistakes=("weights-returned",), note="the last line is missing"),
    Entry("numpy_code/s56.py", "attention", mistakes=("input-changed",), note="q scaled in place"),
    Entry("numpy_code/s57.py", "softmax", mistakes=("input-changed",), note="the scores are overwritten"),
    Entry(
        "numpy_code/s58.py",
        "cross_attention",
        mistakes=("keys-as-values",),
        note="cross attention, values are taken from the keys",
    ),
    Entry("numpy_code/s60.py", "multi_head_attention", mistakes=("heads-ignored",), note="one head as wide as all"),
    Entry("numpy_code/s61.py", "멀티헤드", mistakes=("heads-ignored",), note="자르지 않고 d_head로만 나누는 클래스"),
    Entry(
        "numpy_code/s59.py",
        "decoder_attention",
        mistakes=("mask-finite",),
        kind="causal",
        note="multiplied by the triangle before the softmax",
    ),
)

TWO_MISTAKES = (
    Entry(
        "numpy_code/p01.py",
        "attention",
        mistakes=(
            "no-scale",
            "overflow",
        ),
        note="the shortest that one sees",
    ),
    Entry(
        "numpy_code/p02.py",
        "self_attention",
        mistakes=(
            "no-scale",
            "softmax-axis",
        ),
        note="no √d_k, axis 0",
    ),
    Entry(
        "numpy_code/p03.py",
        "attention",
        mistakes=(
            "scale-by-dk",
            "mask-after-softmax",
        ),
        note="batch",
    ),
    Entry(
        "numpy_code/p04.py",
        "causal_self_attention",
        mistakes=(
            "no-scale",
            "mask-finite",
        ),
        note="times tril, no scale",
    ),
    Entry(
        "numpy_code/p05.py",
        "attention",
        mistakes=(
            "softmax-axis",
            "overflow",
        ),
        note="axis 0, no maximum",
    ),
    Entry(
        "numpy_code/p06.py",
        "batch_attention",
        mistakes=(
            "scale-by-dk",
            "overflow",
        ),
        note="tensors in a loop",
    ),
    Entry(
        "numpy_code/p07.py",
        "causal_attention",
        mistakes=(
            "wrong-triangle",
            "no-scale",
        ),
        note="batch, causal",
    ),
    Entry(
        "numpy_code/p08.py",
        "causal_attention",
        mistakes=(
            "causal-off-by-one",
            "scale-by-dk",
        ),
        note="one future token shown, d_k",
    ),
    Entry(
        "numpy_code/p09.py",
        "attention",
        mistakes=(
            "mask-inverted",
            "scale-by-dk",
        ),
        note="documented, one batch",
    ),
    Entry(
        "numpy_code/p10.py",
        "multi_head_self_attention",
        mistakes=(
            "heads-reshaped",
            "scale-by-sqrt-dmodel",
        ),
        note="split without transpose, √d_model",
    ),
    Entry(
        "numpy_code/p11.py",
        "attention",
        mistakes=(
            "keys-as-values",
            "no-scale",
        ),
        note="batch",
    ),
    Entry(
        "numpy_code/p12.py",
        "self_attn",
        mistakes=(
            "one-projection",
            "softmax-axis",
        ),
        note="the queries' matrix twice, axis 0",
    ),
    Entry(
        "numpy_code/p13.py",
        "masked_attention",
        mistakes=(
            "mask-ignored",
            "no-scale",
        ),
        note="the mask is made and forgotten",
    ),
    Entry(
        "numpy_code/p14.py",
        "self_attention",
        mistakes=(
            "padding-on-query",
            "no-scale",
        ),
        note="padding along the wrong axis",
    ),
    Entry(
        "numpy_code/p15.py",
        "self_attention",
        mistakes=(
            "q-k-swapped",
            "scale-by-dk",
        ),
        note="a loop over pairs, filled the wrong way",
    ),
    Entry(
        "numpy_code/p16.py",
        "attention",
        mistakes=(
            "input-changed",
            "overflow",
        ),
        note="everything in place",
    ),
    Entry(
        "numpy_code/p17.py",
        "attention_with_dropout",
        mistakes=(
            "dropout-at-eval",
            "no-scale",
        ),
        note="chance at every call",
    ),
    Entry(
        "numpy_code/p18.py",
        "attention",
        mistakes=(
            "weights-returned",
            "no-scale",
        ),
        note="the weights, not scaled",
    ),
    Entry(
        "numpy_code/p19.py",
        "attention",
        mistakes=(
            "missing-transpose",
            "no-scale",
        ),
        note="q @ k and no scale",
    ),
    Entry(
        "numpy_code/p20.py",
        "self_attention",
        mistakes=(
            "softmax-missing",
            "no-scale",
        ),
        note="three products and nothing else",
    ),
    Entry(
        "numpy_code/p21.py",
        "attention",
        mistakes=(
            "softmax-twice",
            "no-scale",
        ),
        note="a helper that already normalises",
    ),
    Entry(
        "numpy_code/p22.py",
        "scaled_dot_product_attention",
        mistakes=(
            "nan-row",
            "scale-by-dk",
        ),
        note="minus infinity, d_k",
    ),
    Entry(
        "numpy_code/p23.py",
        "causal_attention",
        mistakes=(
            "zeros-masked",
            "no-scale",
        ),
        note="zeros of the triangle to -1e9",
    ),
    Entry(
        "numpy_code/p24.py",
        "attention",
        mistakes=(
            "mask-after-softmax",
            "overflow",
        ),
        note="causal; exp, sum, then the triangle",
    ),
    Entry(
        "numpy_code/p25.py",
        "multihead_attention",
        mistakes=(
            "softmax-axis",
            "no-scale",
        ),
        note="axis 1 of heads, queries, keys",
    ),
    Entry(
        "numpy_code/p26.py",
        "mha",
        mistakes=("heads-ignored", "no-scale"),
        note="only the head of the definition has n_heads",
    ),
)

RIGHT = (
    Entry("numpy_code/r01.py", "attention", note="from the book"),
    Entry("numpy_code/r02.py", "self_attention", note="from the book, matrices"),
    Entry("numpy_code/r03.py", "einsum_attention", note="einsum, batch"),
    Entry("numpy_code/r04.py", "attention", note="plain Python, three loops"),
    Entry("numpy_code/r05.py", "attention", status="right-differently", note="scale folded into q, additive mask"),
    Entry("numpy_code/r06.py", "attention", note="the fourth root on both sides, weights first"),
    Entry("numpy_code/r07.py", "causal_attention", note="a prefix at a time, no mask at all"),
    Entry("numpy_code/r08.py", "causal_self_attention", note="triu and minus infinity"),
    Entry("numpy_code/r09.py", "attention", note="valid lengths"),
    Entry("numpy_code/r10.py", "attention", note="key_padding_mask as in PyTorch: True is padding"),
    Entry("numpy_code/r11.py", "cross_attention", note="two sequences"),
    Entry("numpy_code/r12.py", "multi_head_attention", note="reshape and transposes"),
    Entry("numpy_code/r13.py", "multihead", note="slices, each head's part of W_o added up"),
    Entry("numpy_code/r14.py", "SelfAttention", note="a class"),
    Entry("numpy_code/r15.py", "MultiHeadAttention", note="a class with heads, the matrices cut from one array"),
    Entry(
        "numpy_code/r16.py",
        "attention",
        status="right-differently",
        note="keys along axis 0, softmax over axis 0, all of it transposed",
    ),
    Entry("numpy_code/r17.py", "attention", note="masked after exp, before the sum"),
    Entry("numpy_code/r18.py", "attention", note="the mask is named for what it hides"),
    Entry("numpy_code/r19.py", "attention", status="right-differently", note="online softmax, one key after another"),
    Entry("numpy_code/r20.py", "셀프어텐션", note="한국어"),
    Entry("numpy_code/r21.py", "softmax", note="only the softmax"),
    Entry("numpy_code/r22.py", "scale", note="only the scale"),
    Entry("numpy_code/r23.py", "attention", note="powers of two, products by broadcasting"),
    Entry(
        "numpy_code/r24.py", "scaled_dot_product_attention", note="the mask as in TensorFlow's tutorial: 1 is masked"
    ),
    Entry("numpy_code/r25.py", "attention", note="minus infinity, a row with nothing gives zeros"),
    Entry("numpy_code/r26.py", "masked_attention", kind="causal", note="additive triangle of -1e9"),
    Entry("numpy_code/r27.py", "attention", note="scipy's softmax"),
    Entry("numpy_code/r28.py", "attend", note="type hints, every operation by its name, weights first"),
    Entry("numpy_code/r29.py", "attention", note="normalised after mixing, a division at the end"),
    Entry("numpy_code/r30.py", "attention", note="a mask that is added, minus infinity, safe"),
)

ENTRIES = (*ONE_MISTAKE, *TWO_MISTAKES, *RIGHT)
