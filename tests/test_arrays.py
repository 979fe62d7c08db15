"""The door for arrays: what comes in from anywhere, and every refusal with its message in both languages."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, OverflowRefused, ShapeError, UnknownName
from jumok.path.allowed import causal, document, padding, table, window
from jumok.path.positions import Rotary, alibi, relative, t5
from jumok.path.positions import table as bias_table
from libraries import Library

NAN, INF = float("nan"), float("inf")
ONE = np.eye(3)  # x, q, k, v or a projection of three tokens


def x(**changed: Any) -> Any:
    return jumok.attend(**({"x": ONE, "w_q": ONE, "w_k": ONE, "w_v": ONE} | changed))


def qkv(**changed: Any) -> Any:
    return jumok.attend(**({"q": ONE[None], "k": ONE[None], "v": ONE[None]} | changed))


def with_(value: float, *at: int, shape: tuple[int, ...] = (3, 3)) -> Any:
    array = np.ones(shape)
    array[at] = value
    return array


# each: what is asked, the kind of refusal, what the English and the Korean message say (regular expressions)
REFUSED: dict[str, tuple[Callable[[], Any], type[InputError], str, str]] = {
    # the axes of x and the projections
    "x with 1 axis": (
        lambda: x(x=[1, 2, 3]),
        ShapeError,
        r"x expects 2 axes, got 1.*\(token, d_model\)",
        r"x에는 축 2개",
    ),
    "x is one number": (lambda: x(x=3.0), ShapeError, r"x expects 2 axes, got 0", r"축 2개가 필요한데 0개"),
    "x is empty": (lambda: x(x=np.ones((0, 3))), ShapeError, r"x is empty: shape \(0, 3\)", r"x이\(가\) 비어 있습니다"),
    "x without dimensions": (lambda: x(x=[[], []]), ShapeError, r"x is empty: shape \(2, 0\)", r"비어 있습니다"),
    "w_q for another d_model": (
        lambda: x(w_q=np.ones((4, 3))),
        ShapeError,
        r"w_q has 4 rows, but x has d_model=3.*\(4, 3\), read as \(d_model, heads · d\)",
        r"w_q은\(는\) 4행인데 x는 d_model=3",
    ),
    "w_k with 1 axis": (lambda: x(w_k=[1, 2, 3]), ShapeError, r"w_k expects 2 axes, got 1", r"w_k에는 축 2개"),
    "w_k of another d_head": (
        lambda: x(w_k=np.ones((3, 2))),
        ShapeError,
        r"k has d_head=2, but q has d_head=3. k is \(1, 3, 2\), read as \(kv_head, key, d_head\)",
        r"k은\(는\) d_head=2인데 q은\(는\) d_head=3",
    ),
    "w_o for other heads": (
        lambda: x(w_o=np.ones((4, 3))),
        ShapeError,
        r"w_o has rows=4, but the joined heads has rows=3. w_o is \(4, 3\), read as \(heads · d_value, d_out\)",
        r"w_o은\(는\) rows=4인데 the joined heads은\(는\) rows=3",
    ),
    "b_v too long": (
        lambda: x(b_v=np.ones(4)),
        ShapeError,
        r"b_v has 4 numbers, but w_v has 3 columns",
        r"값이 4개인데",
    ),
    "b_v with 2 axes": (lambda: x(b_v=ONE), ShapeError, r"b_v expects 1 axes, got 2", r"b_v에는 축 1개"),
    "b_o too long": (
        lambda: x(w_o=ONE, b_o=np.ones(2)),
        ShapeError,
        r"b_o has columns=2, but the output has columns=3",
        r"b_o은\(는\) columns=2인데",
    ),
    "columns that heads cannot share": (
        lambda: x(n_heads=2),
        ShapeError,
        r"w_q has 3 columns, which 2 heads cannot share evenly",
        r"w_q의 열 3개를 헤드 2개가 고르게 나눌 수 없습니다",
    ),
    "heads that cannot share keys": (
        lambda: x(w_q=np.ones((3, 3)), w_k=np.ones((3, 2)), w_v=np.ones((3, 2)), n_heads=3, n_kv_heads=2),
        ShapeError,
        r"3 query heads cannot share 2 key/value heads evenly",
        r"쿼리 헤드 3개가 키/밸류 헤드 2개를",
    ),
    "no heads": (
        lambda: x(n_heads=0),
        InputError,
        r"number of heads expects a whole number, 1 or more, got 0",
        r"헤드 수에는 1",
    ),
    "heads below 0": (lambda: x(n_kv_heads=-1), InputError, r"1 or more, got -1", r"-1이\(가\)"),
    "heads in halves": (lambda: x(n_heads=1.5), InputError, r"1 or more, got 1\.5", r"1\.5이\(가\)"),
    "heads as text": (lambda: x(n_heads="2"), InputError, r"1 or more, got '2'", r"'2'이\(가\)"),
    "heads as truth": (lambda: x(n_kv_heads=True), InputError, r"1 or more, got True", r"True이\(가\)"),
    # the axes of q, k and v
    "q with 2 axes": (
        lambda: qkv(q=ONE),
        ShapeError,
        r"q expects 3 axes, got 2.*\(head, query, d_head\)",
        r"q에는 축 3개",
    ),
    "k with another d_head": (
        lambda: qkv(k=np.ones((1, 3, 2))),
        ShapeError,
        r"k has d_head=2, but q has d_head=3",
        r"k은\(는\) d_head=2",
    ),
    "v with other keys": (
        lambda: qkv(v=np.ones((1, 4, 3))),
        ShapeError,
        r"v has key=4, but k has key=3. v is \(1, 4, 3\), read as \(kv_head, key, d_value\)",
        r"v은\(는\) key=4인데 k은\(는\) key=3",
    ),
    "v with other heads": (
        lambda: qkv(v=np.ones((2, 3, 3))),
        ShapeError,
        r"v has kv_head=2, but k has kv_head=1",
        r"kv_head=2인데",
    ),
    "too few tokens": (
        lambda: qkv(tokens=["a"]),
        ShapeError,
        r"tokens has query=1, but q has query=3",
        r"tokens은\(는\) query=1인데",
    ),
    "other keys without names": (
        lambda: qkv(k=np.ones((1, 2, 3)), v=np.ones((1, 2, 3)), tokens=["a", "b", "c"]),
        ShapeError,
        r"tokens \(there are no key_tokens\) has key=3, but k has key=2",
        r"key=3인데 k은\(는\) key=2",
    ),
    "too few key tokens": (
        lambda: qkv(key_tokens=["a"]),
        ShapeError,
        r"key_tokens has key=1, but k has key=3",
        r"key_tokens은\(는\) key=1",
    ),
    "too few dimensions": (
        lambda: x(dimensions=["a"]),
        ShapeError,
        r"dimensions has d_model=1, but x has d_model=3",
        r"dimensions은\(는\) d_model=1",
    ),
    # what is not a finite number
    "NaN in x": (
        lambda: x(x=with_(NAN, 1, 2), tokens=["가", "나", "다"]),
        InputError,
        r"x\[1, 2\] \(token '나'\) is nan. Every number must be finite",
        r"x\[1, 2\]\(토큰 '나'\)의 값이 nan입니다",
    ),
    "infinity in q": (
        lambda: qkv(q=with_(INF, 0, 2, 1, shape=(1, 3, 3)), tokens=["a", "b", "c"]),
        InputError,
        r"q\[0, 2, 1\] \(token 'c'\) is inf",
        r"q\[0, 2, 1\]\(토큰 'c'\)의 값이 inf",
    ),
    "infinity in v of key tokens": (
        lambda: qkv(v=with_(-INF, 0, 0, 0, shape=(1, 3, 3)), key_tokens=["p", "q", "r"]),
        InputError,
        r"v\[0, 0, 0\] \(token 'p'\) is -inf",
        r"v\[0, 0, 0\]\(토큰 'p'\)의 값이 -inf",
    ),
    "NaN without names": (lambda: x(x=with_(NAN, 0, 0)), InputError, r"x\[0, 0\] is nan", r"x\[0, 0\]의 값이 nan"),
    "NaN in a projection": (
        lambda: x(w_q=with_(NAN, 2, 0)),
        InputError,
        r"w_q\[2, 0\] is nan",
        r"w_q\[2, 0\]의 값이 nan",
    ),
    "NaN in a bias": (lambda: x(b_q=[0, NAN, 0]), InputError, r"b_q\[1\] is nan", r"b_q\[1\]의 값이 nan"),
    "both infinities": (
        lambda: x(x=[[INF, -INF]], w_q=np.ones((2, 1))),
        InputError,
        r"x\[0, 0\] is inf",
        r"x\[0, 0\]의 값이 inf",
    ),
    "ragged lists": (
        lambda: x(x=[[1, 2], [3]]),
        InputError,
        r"x expects an array of numbers: .*inhomogeneous",
        r"x에는 숫자 배열이",
    ),
    "text": (
        lambda: x(x="abc"),
        InputError,
        r"x expects real numbers .*, got <U3",
        r"x에는 실수.*<U3이\(가\) 왔습니다",
    ),
    "texts": (lambda: x(x=[["a", "b"]]), InputError, r"x expects real numbers .*got <U1", r"x에는 실수"),
    "complex numbers": (
        lambda: qkv(q=1j * ONE[None]),
        InputError,
        r"q expects real numbers .*got complex128",
        r"complex128이\(가\)",
    ),
    "objects": (lambda: x(x=[[Fraction(1, 2)]]), InputError, r"x expects real numbers .*got object", r"object이\(가\)"),
    "nothing in a row": (lambda: x(x=[[1, None]]), InputError, r"got object", r"object이\(가\)"),
    "long doubles": (lambda: x(x=ONE.astype(np.longdouble)), InputError, r"got float128|got longdouble", r"실수"),
    "masked arrays": (
        lambda: x(x=np.ma.masked_array(ONE, ONE > 0)),
        InputError,
        r"x is a masked array.*Try x\.filled\(0\)",
        r"masked array\)이라.*x\.filled\(0\)",
    ),
    # tokens, dimensions, source
    "tokens as one text": (
        lambda: x(tokens="a b c"),
        InputError,
        r"list of texts, got 'a b c'. Try \['a', 'b', 'c'\]",
        r"예: \['a', 'b', 'c'\]",
    ),
    "tokens as a number": (
        lambda: x(tokens=3),
        InputError,
        r"tokens expects a list of texts, got 3\.",
        r"tokens에는 문자열의 목록",
    ),
    "a number among the tokens": (
        lambda: x(tokens=["a", 2, "c"]),
        InputError,
        r"a token expects text, got 2",
        r"토큰에는 문자열이 필요한데 2",
    ),
    "half a surrogate pair": (
        lambda: x(tokens=["a", "\ud800", "c"]),
        InputError,
        r"a token expects text, got '\\ud800'",
        r"문자열이 필요",
    ),
    "dimensions as one text": (
        lambda: x(dimensions="abc"),
        InputError,
        r"dimensions expects a list of texts, got 'abc'",
        r"dimensions에는",
    ),
    "a number among the dimensions": (
        lambda: x(dimensions=[1, 2, 3]),
        InputError,
        r"expects text, got 1",
        r"문자열이 필요한데 1",
    ),
    "a source that is none": (
        lambda: x(source="me"),
        InputError,
        r"source expects a Source, got str",
        r"source에는 Source이\(가\)",
    ),
    "a rotation that is none": (
        lambda: x(rotation=5),
        InputError,
        r"rotation expects a Rotary, got int",
        r"rotation에는 Rotary",
    ),
    "a rotation of odd width": (
        lambda: x(rotation=Rotary()),
        ShapeError,
        r"d_head must be even, got 3",
        r"d_head가 짝수여야 하는데 3",
    ),
    # which way
    "nothing": (
        lambda: jumok.attend(),
        InputError,
        r"attend expects an example, or x.*got nothing",
        r"온 것은 이렇습니다: 아무것도 없음",
    ),
    "x alone": (
        lambda: jumok.attend(x=ONE),
        InputError,
        r"x, w_q, w_k and w_v, or q, k and v; got x\.",
        r"x·w_q·w_k·w_v.*: x\.",
    ),
    "q and k": (lambda: jumok.attend(q=ONE, k=ONE), InputError, r"got k, q\.", r": k, q\."),
    "w_o beside q, k, v": (
        lambda: qkv(w_o=ONE),
        InputError,
        r"attend does not use w_o together with k, q, v",
        r"k, q, v와\(과\) 함께 w_o을\(를\)",
    ),
    "heads beside q, k, v": (lambda: qkv(n_heads=2), InputError, r"does not use n_heads together", r"n_heads을\(를\)"),
    "key tokens beside x": (
        lambda: x(key_tokens=["a"]),
        InputError,
        r"does not use key_tokens together",
        r"key_tokens을\(를\)",
    ),
    "x beside q, k, v": (
        lambda: x(q=ONE[None], k=ONE[None], v=ONE[None]),
        InputError,
        r"does not use k, q, v together",
        r"k, q, v을\(를\)",
    ),
    "a text for an example": (
        lambda: jumok.attend("student"),
        InputError,
        r"expects an Example .*got str",
        r"Example.*str이\(가\)",
    ),
    "a number to load": (
        lambda: jumok.load(3),
        InputError,
        r"load expects a path or a name.*got 3",
        r"load에는 경로나.*3이\(가\)",
    ),
    "a JSON file to load": (
        lambda: jumok.load("a.json"),
        InputError,
        r"a\.json: a \.json file is for reading elsewhere",
        r"\.json 파일은 다른 곳에서 읽기",
    ),
    "a page to load": (
        lambda: jumok.load("pair.html"),
        InputError,
        r"pair\.html: a page is for looking at and cannot be read back.*\.yaml.*\.safetensors",
        r"페이지 파일은 보기 위한 것이라 다시 읽을 수 없습니다",
    ),
    "a picture to load": (
        lambda: jumok.load("a.SVG"),
        InputError,
        r"a\.SVG: a picture is for looking at and cannot be read back",
        r"그림 파일은 보기 위한 것",
    ),
    # rules
    "an unknown rule": (
        lambda: x(rule="casual"),
        UnknownName,
        r"unknown rule 'casual'.*none, everything, causal",
        r"알 수 없는 규칙 'casual'",
    ),
    "a rule that is none": (
        lambda: x(rule=5),
        InputError,
        r"a rule expects a name.*got int",
        r"규칙에는 이름.*int이\(가\)",
    ),
    "a bias for a rule": (lambda: x(rule=alibi([1])), InputError, r"a rule expects a name.*got _Alibi", r"규칙에는"),
    "a rule for a bias": (
        lambda: jumok.Rule(bias=causal()),
        InputError,
        r"bias expects alibi\(slopes\).*got _Causal",
        r"bias에는",
    ),
    "a table of 0 and 1": (
        lambda: x(rule=[[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        InputError,
        r"table\(array\) expects True and False, got int64 \(3, 3\). Libraries disagree about what 0 and 1 mean",
        r"True와 False가 필요한데 int64 \(3, 3\)",
    ),
    "a table with 1 axis": (
        lambda: x(rule=[True, False]),
        ShapeError,
        r"table\(array\) expects \(query, key\), got bool \(2,\)",
        r"\(쿼리, 키\) 표",
    ),
    "a table for other tokens": (
        lambda: x(rule=np.ones((2, 3), bool)),
        ShapeError,
        r"table\(array\) has query=2, but there are 3",
        r"query=2인데",
    ),
    "a ragged table": (
        lambda: table([[True], [True, False]]),
        InputError,
        r"table\(array\) expects an array",
        r"table\(array\)에는 배열이",
    ),
    "a table a sentence": (
        lambda: x(rule=np.ones((2, 3, 3), bool)),
        ShapeError,
        r"the rule has leading axes \(2,\), but a record has no batch",
        r"규칙에 앞쪽 축 \(2,\)",
    ),
    "padding a sentence": (
        lambda: x(rule=padding(np.ones((2, 3), bool))),
        ShapeError,
        r"leading axes \(2,\)",
        r"앞쪽 축",
    ),
    "padding for other tokens": (
        lambda: x(rule=padding([True])),
        ShapeError,
        r"padding\(keys\) has key=1, but there are 3",
        r"key=1인데",
    ),
    "padding of 0 and 1": (
        lambda: padding([1, 0]),
        InputError,
        r"padding\(keys\) expects True and False, got int64",
        r"padding\(keys\)에는",
    ),
    "documents for other tokens": (
        lambda: x(rule=document([0, 1])),
        ShapeError,
        r"document\(ids\) has query=2, but there are 3",
        r"query=2",
    ),
    "documents beyond the keys": (
        lambda: x(rule=document([0, 1, 1], 1)),
        ShapeError,
        r"has query=3, but there are 4",
        r"query=3인데",
    ),
    "documents in fractions": (
        lambda: document([0.0, 1.0]),
        InputError,
        r"one whole number a token, got float64 \(2,\)",
        r"토큰마다 정수",
    ),
    "a window in fractions": (
        lambda: window(1.5),
        InputError,
        r"n_back expects a whole number of tokens from 0 to .*got 1\.5",
        r"n_back에는 0부터",
    ),
    "a window below 0": (lambda: window(2, -1), InputError, r"n_ahead expects .*got -1", r"n_ahead에는.*-1이\(가\)"),
    "a window as truth": (lambda: window(True), InputError, r"n_back expects .*got True", r"True이\(가\)"),
    "an offset below 0": (lambda: causal(-1), InputError, r"offset expects .*got -1", r"offset에는"),
    "an offset beyond counting": (
        lambda: causal(2**31),
        InputError,
        r"from 0 to 1,073,741,824, got 2147483648",
        r"1,073,741,824까지",
    ),
    "a rule and a table": (
        lambda: causal() & [[True]],
        InputError,
        r"& and \| join two rules .*got list",
        r"&와 \|는.*list이\(가\)",
    ),
    "a rule or nothing": (lambda: causal() | None, InputError, r"& and \| join two rules .*got NoneType", r"&와 \|는"),
    "a bias and a number": (
        lambda: alibi([1]) + 1,
        InputError,
        r"\+ joins two position biases .*got int",
        r"\+는 alibi",
    ),
    "scale below 0": (
        lambda: jumok.Rule(scale=-1),
        InputError,
        r"scale expects a number above 0 .*got -1",
        r"scale에는 0보다 큰 숫자",
    ),
    "scale of 0": (
        lambda: jumok.Rule(scale=0),
        InputError,
        r"scale expects a number above 0 .*got 0",
        r"0이\(가\) 왔습니다",
    ),
    "scale of NaN": (lambda: jumok.Rule(scale=NAN), InputError, r"scale expects .*got nan", r"nan이\(가\)"),
    "scale of infinity": (lambda: jumok.Rule(scale=INF), InputError, r"scale expects .*got inf", r"inf이\(가\)"),
    "scale beyond float32": (
        lambda: jumok.Rule(scale=1e-40),
        InputError,
        r"\(from 1e-30 to 1e\+30\), got 1e-40",
        r"1e-40이\(가\)",
    ),
    "scale as text": (lambda: jumok.Rule(scale="0.5"), InputError, r"scale expects .*got '0\.5'", r"'0\.5'이\(가\)"),
    "scale as truth": (lambda: jumok.Rule(scale=True), InputError, r"scale expects .*got True", r"True이\(가\)"),
    "softcap of 0": (lambda: jumok.Rule(softcap=0), InputError, r"softcap expects .*got 0", r"softcap에는"),
    "sink of NaN": (
        lambda: jumok.Rule(sink=[NAN]),
        InputError,
        r"sink expects an array with ndim=1 of finite.*largest is nan",
        r"sink에는",
    ),
    "sink with 2 axes": (
        lambda: jumok.Rule(sink=[[1.0]]),
        InputError,
        r"sink expects .*got float64 \(1, 1\)",
        r"float64 \(1, 1\)이\(가\)",
    ),
    "sink for other heads": (
        lambda: x(rule=jumok.Rule(sink=[0, 0])),
        ShapeError,
        r"sink has 2 logits, but there are 1 heads",
        r"sink에는 값이 2개",
    ),
    "ALiBi for other heads": (
        lambda: x(w_q=np.ones((3, 3)), w_k=np.ones((3, 3)), n_heads=3, rule=jumok.Rule(bias=alibi([1, 2]))),
        ShapeError,
        r"alibi\(slopes\) is for 2 heads, but there are 3",
        r"alibi\(slopes\)은\(는\) 헤드 2개용인데 헤드는 3개",
    ),
    "ALiBi without numbers": (
        lambda: alibi(["a"]),
        InputError,
        r"alibi\(slopes\) expects .*got <U1",
        r"alibi\(slopes\)에는",
    ),
    "ALiBi beyond float32": (
        lambda: alibi([1e26]),
        InputError,
        r"up to 1e\+25, got float64 \(1,\); the largest is 1e\+26",
        r"1e\+25 이하",
    ),
    "an even relative vector": (
        lambda: relative([[1.0, 2.0]]),
        ShapeError,
        r"odd number of offsets .*got 2",
        r"홀수 개",
    ),
    "T5 with odd buckets": (
        lambda: t5(np.ones((5, 1))),
        ShapeError,
        r"t5\(buckets\) expects \(bucket, head\)",
        r"t5\(buckets\)에는",
    ),
    "T5 with too few buckets": (
        lambda: t5(np.ones((2, 1))),
        ShapeError,
        r"at least 4.*got \(2, 1\)",
        r"짝수이며 4 이상",
    ),
    "T5 that ends too soon": (
        lambda: t5(np.ones((8, 1)), max_distance=2),
        ShapeError,
        r"\(8, 1\) and 2",
        r"\(8, 1\)와 2",
    ),
    "T5 with a text for a flag": (
        lambda: t5(np.ones((8, 1)), "yes"),
        InputError,
        r"bidirectional expects True or False, got 'yes'",
        r"'yes'이\(가\)",
    ),
    "T5 without end": (
        lambda: t5(np.ones((8, 1)), max_distance=2**40),
        InputError,
        r"max_distance expects .*to 1,048,576",
        r"max_distance에는",
    ),
    "a bias table for other tokens": (
        lambda: x(rule=jumok.Rule(bias=bias_table(np.ones((1, 2, 3))))),
        ShapeError,
        r"bias table\(array\) has \(query, key\) = \(2, 3\), but there are 3 queries and 3 keys",
        r"\(쿼리, 키\) = \(2, 3\)인데 쿼리는 3개",
    ),
    "a bias that hides": (
        lambda: bias_table(np.full((1, 3, 3), -INF)),
        InputError,
        r"of finite numbers.*the largest is inf",
        r"유한한 숫자",
    ),
    "rotary base of 0": (
        lambda: Rotary(base=0),
        InputError,
        r"rotary base expects a number above 0",
        r"rotary base에는",
    ),
    "rotary offset as text": (lambda: Rotary(offset="1"), InputError, r"offset expects a whole number", r"offset에는"),
    "rotary pairs as a number": (
        lambda: Rotary(interleaved=1),
        InputError,
        r"interleaved expects True or False, got 1",
        r"interleaved에는",
    ),
    # sizes
    "a score beyond the type": (
        lambda: qkv(q=1e200 * ONE[None], k=1e200 * ONE[None], tokens=["a", "b", "c"]),
        OverflowRefused,
        r"score of 'a' \(query 0\) and 'a' \(key 0\) in head 0 does not fit float64: q · k: .*Divide the numbers",
        r"헤드 0에서 'a'\(쿼리 0\)와 'a'\(키 0\)의 점수가 float64에 들어가지 않습니다",
    ),
    "a scaled score beyond the type": (
        lambda: qkv(q=1e150 * ONE[None], k=1e150 * ONE[None], rule=jumok.Rule(scale=1e20)),
        OverflowRefused,
        r"does not fit float64: scores × scale",
        r"점수가 float64에 들어가지 않습니다: scores × scale",
    ),
    "a value beyond the type": (
        lambda: qkv(v=with_(1e308, 0, 1, 2, shape=(1, 3, 3)), tokens=["a", "b", "c"]),
        OverflowRefused,
        r"value of 'b' \(key 1\) reaches 1e\+308; the output would not surely fit",
        r"'b'\(키 1\)의 밸류가 1e\+308에 이릅니다",
    ),
    "an output beyond the type": (
        lambda: x(w_v=1e200 * ONE, w_o=1e200 * ONE),
        OverflowRefused,
        r"value of '0' \(key 0\) reaches 1e\+200; the output",
        r"'0'\(키 0\)의 밸류가",
    ),
    "a projection beyond the type": (
        lambda: x(x=1e200 * ONE, w_k=1e200 * ONE, tokens=["a", "b", "c"]),
        OverflowRefused,
        r"k of 'a' \(token 0\): x · W: row 0, column 0 is larger than",
        r"'a'\(토큰 0\)의 k: x · W: 0행 0열의 값이",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused_in_both_languages(what: str) -> None:
    asked, kind, en, ko = REFUSED[what]
    with pytest.raises(kind) as caught:
        asked()
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, ValueError)
    assert re.search(en, str(error)), str(error)
    assert re.search(ko, error.text("ko")), error.text("ko")
    assert error.text() == error.text("en") == str(error)


# what comes in ------------------------------------------------------------------------------------


def test_arrays_of_any_library_make_the_same_record(library: Library) -> None:
    wanted = x(n_heads=3, rule=jumok.Rule(None, table(ONE > 0), bias=alibi([1.0, 2.0, 3.0])))
    one = library.array(ONE)
    rule = jumok.Rule(None, table(library.array(ONE > 0)), bias=alibi(library.array([1.0, 2.0, 3.0])))
    assert x(x=one, w_q=one, w_k=one, w_v=one, n_heads=3, rule=rule) == wanted


def test_bfloat16_becomes_float32() -> None:
    torch, jnp = pytest.importorskip("torch"), pytest.importorskip("jax.numpy")
    for made in (torch.ones(1, 3, 2, dtype=torch.bfloat16), jnp.ones((1, 3, 2), dtype=jnp.bfloat16)):
        trace = jumok.attend(q=made, k=made, v=made)
        assert trace.q.dtype == np.float32
        np.testing.assert_array_equal(trace.q, np.ones((1, 3, 2)))


def test_a_tensor_with_a_gradient_is_taken_as_it_is() -> None:
    torch = pytest.importorskip("torch")
    q = torch.ones(1, 2, 2, requires_grad=True)
    assert jumok.attend(q=q, k=q, v=q).q.tolist() == [[[1, 1], [1, 1]]]


@pytest.mark.parametrize("given", [[[1, 0], [0, 1]], [[True, False], [False, True]], np.eye(2, dtype=np.int8)])
def test_whole_numbers_become_float64(given: Any) -> None:
    trace = jumok.attend(x=given, w_q=given, w_k=given, w_v=given)
    assert trace.x is not None
    assert trace.x.dtype == trace.q.dtype == np.float64


def test_half_precision_is_kept_and_computed_in_float32() -> None:
    half = np.full((1, 2, 2), 200, np.float16)
    trace = jumok.attend(q=half, k=half, v=half)
    assert trace.q.dtype == np.float16
    assert trace.scores.dtype == np.float32
    assert trace.scores.max() == 80_000  # beyond what float16 holds
    made = jumok.attend(x=half[0], w_q=half[0], w_k=half[0], w_v=half[0])
    assert made.q.dtype == np.float32
    assert made.q.max() == 80_000


def test_numbers_of_another_byte_order_are_turned() -> None:
    foreign = ONE[None].astype(">f8")
    foreign.setflags(write=False)
    trace = qkv(q=foreign, rule=document(np.array([0, 0, 1], ">i8")))
    assert trace.q.dtype.isnative
    assert trace.rule.allowed.ids.dtype.isnative
    np.testing.assert_array_equal(trace.q, ONE[None])


def test_matrices_and_views_are_plain_arrays() -> None:
    turned = np.asfortranarray(np.arange(9.0).reshape(3, 3))
    trace = x(x=turned[::-1])
    assert type(trace.x) is np.ndarray
    assert trace.x.flags.c_contiguous
    np.testing.assert_array_equal(trace.x, turned[::-1])


def test_numbers_of_numpy_and_torch_are_counts_too() -> None:
    torch = pytest.importorskip("torch")
    made = x(n_heads=np.int64(3), rule=window(np.int32(1), torch.tensor(1)))
    assert made == x(n_heads=3, rule=window(1, 1))
    assert type(made.rule.allowed.n_back) is int


def test_the_record_does_not_follow_the_callers_arrays() -> None:
    given = {name: ONE.copy() for name in ("x", "w_q", "w_k", "w_v", "w_o")}
    allowed = np.ones((3, 3), bool)
    slopes = np.ones(1)
    trace = jumok.attend(**given, b_q=(b_q := np.ones(3)), rule=jumok.Rule(allowed=allowed, bias=alibi(slopes)))
    before = trace.output
    for array in (*given.values(), b_q, slopes):
        array *= 5
    allowed[:] = False
    np.testing.assert_array_equal(trace.output, before)
    assert trace.x is not None
    np.testing.assert_array_equal(trace.x, ONE)


def test_a_read_only_view_of_a_writable_array_is_copied() -> None:
    base = ONE[None].copy()
    view = base.view()
    view.setflags(write=False)
    trace = qkv(q=view)
    base[:] = 7
    np.testing.assert_array_equal(trace.q, ONE[None])


def test_what_nobody_can_change_is_not_copied() -> None:
    sealed = ONE[None].copy()
    sealed.setflags(write=False)
    assert qkv(q=sealed).q is sealed


@pytest.mark.parametrize("way", ["x", "qkv"])
def test_the_callers_arrays_are_left_as_they_are(way: str) -> None:
    array = ONE.copy() if way == "x" else ONE[None].copy()
    trace = x(x=array) if way == "x" else qkv(q=array)
    assert array.flags.writeable
    trace.output  # noqa: B018
    np.testing.assert_array_equal(array.reshape(3, 3), ONE)


def test_tokens_are_numbered_where_none_are_given() -> None:
    assert [token.text for token in x().tokens] == ["0", "1", "2"]
    cross = jumok.attend(q=np.ones((1, 2, 3)), k=ONE[None], v=ONE[None])
    assert [token.text for token in cross.read_tokens] == ["0", "1", "2"]
    assert x().key_tokens is None


def test_the_source_says_how_heads_are_shared() -> None:
    w = np.ones((3, 2))
    shared = x(w_q=np.ones((3, 4)), w_k=w, w_v=w, n_heads=2, n_kv_heads=1).source.shared_heads
    assert shared == "2 query heads share 1 key/value heads, neighbours together"
    assert x().source.shared_heads is None


def test_rotation_turns_q_and_k_and_not_v() -> None:
    w = np.ones((3, 2))
    plain, turned = x(w_q=w, w_k=w, w_v=w), x(w_q=w, w_k=w, w_v=w, rotation=Rotary(offset=1))
    np.testing.assert_array_equal(turned.q, Rotary(offset=1).turned(plain.q))
    np.testing.assert_array_equal(turned.k, Rotary(offset=1).turned(plain.k))
    np.testing.assert_array_equal(turned.v, plain.v)


# length -------------------------------------------------------------------------------------------

MEASURED = """
import resource, sys
import numpy as np
import jumok, jumok.sources.arrays
from jumok.errors import TooLargeError

def peak():  # in bytes; ru_maxrss would count what the process that started this one held
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

n, d = 100_000, 64
random = np.random.default_rng(0)
if sys.argv[1] == "qkv":
    given = {name: random.standard_normal((1, n, d)) for name in "qkv"}
else:
    given = {"x": random.standard_normal((n, d))} | {f"w_{c}": random.standard_normal((d, d)) for c in "qkv"}
before = peak()
trace = jumok.attend(**given)
for stage in ("scores", "scaled", "allowed", "mixed", "output", "weights"):
    rows = trace.rows(stage, queries=range(0, n, n // 10))
print((peak() - before) / 1e6)
assert abs(rows.sum() - 10) < 1e-9
try:
    trace.weights
except TooLargeError as error:
    assert "80 GB" in str(error), error
else:
    raise SystemExit("not refused")
"""


@pytest.mark.parametrize("way", ["qkv", "x"])
def test_a_hundred_thousand_tokens_take_little_memory(way: str) -> None:
    """Making the record and reading ten rows: well under the promised 300 MB beyond the inputs."""
    done = subprocess.run([sys.executable, "-c", MEASURED, way], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 285, done.stdout
