"""The text of an example file → ``Example``, or one clear refusal with line and column."""

from __future__ import annotations

import difflib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import ExampleError, InputError, JumokError
from ..path import allowed as rules
from ..path.allowed import Allowed
from ..path.positions import PositionBias, alibi, alibi_slopes
from ..yaml_nodes import Map, Node, Scalar, Seq, brief, parse, refused
from .example import Block, Example, random_arrays

__all__ = ["read", "read_nodes"]

TOP = [
    "title",
    "sentence",
    "dimensions",
    "tokens",
    "weights",
    "random",
    "heads",
    "kv_heads",
    "scale",
    "temperature",
    "positions",
    "mask",
    "residual",
    "layers",
    "wanted",
    "meaning",
    "focus",
    "pair",
]
BLOCK = ["weights", "heads", "kv_heads", "scale", "temperature", "positions", "mask", "residual"]
WEIGHTS = ["w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"]
LANGS = ("en", "ko")
MOST_TOKENS = 1000
MOST_DIMENSIONS = 512
MOST_NUMBERS = 4_000_000  # in x and all weights together: 32 MB
MOST_SCORES = 50_000_000  # tokens × tokens × heads, where a next layer needs them at once: about a second
MOST_SCALE = 1e15  # of random numbers
MOST_NAMES = 24  # in a message


def read(text: str, name: str) -> Example:
    """The example that a file's text describes; ``name`` is what messages call it."""
    return read_nodes(parse(text, name), text, name)


def read_nodes(root: Node, text: str, name: str) -> Example:
    """The same, where the nodes of the text are known already."""
    return _Reader(name).example(root, text)


class _Reader:
    """One file being read: its name for messages, and what is known of its tokens and dimensions so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens: list[str] = []
        self.dimensions: list[str] | None = None
        self.n_numbers = 0
        self.n_scores = 0

    def example(self, root: Node, text: str) -> Example:
        top = self.names(root, TOP, "an example file", "예제 파일")
        if "tokens" not in top:
            raise self.wrong(
                root,
                "tokens: is missing: a list, one entry a token",
                "tokens: 항목이 없습니다. 토큰마다 한 줄씩 목록으로 쓰십시오",
            )
        self.dimensions = self.dimension_names(top.get("dimensions"))
        x = self.embeddings(top["tokens"], random="random" in top)
        settings = self.random(top.get("random"), top) if "random" in top else None
        drawn = {} if settings is None else random_arrays(settings, len(self.tokens))
        x = drawn.pop("x", x)
        layers = self.layers(top, root, x, drawn)
        made = Example(
            tokens=tuple(self.tokens),
            x=x,
            layers=layers,
            sentence=self.nfc(self.text(top["sentence"])) if "sentence" in top else " ".join(self.tokens),
            dimensions=None if self.dimensions is None else tuple(self.dimensions),
            title=self.by_language(top.get("title")),
            meaning=self.meaning(top.get("meaning")),
            wanted=self.wanted(top.get("wanted"), layers),
            focus=self.token(top["focus"]) if "focus" in top else None,
            pair=self.text(top["pair"]) if "pair" in top else None,
            random=settings,
            text=text,
            name=self.name,
        )
        self.check(made, top, root)
        return made

    # what stands in the file ------------------------------------------------------------------

    def dimension_names(self, node: Node | None) -> list[str] | None:
        if node is None:
            return None
        found: list[str] = []
        for item in self.items(node, "dimensions", "dimensions", "[Person, Action]"):
            name = self.nfc(self.text(item))
            if not name:
                raise self.wrong(item, "a dimension needs a name", "차원에는 이름이 필요합니다")
            if name in found:
                raise self.wrong(
                    item,
                    f"the dimension {brief(name)!r} is declared twice; keep one",
                    f"차원 {brief(name)!r}이(가) 두 번 선언되었습니다. 하나만 남기십시오",
                )
            found.append(name)
            if len(found) > MOST_DIMENSIONS:
                raise self.wrong(
                    item,
                    f"more than {MOST_DIMENSIONS} dimensions. For more give arrays: jumok.attend(x=…)",
                    f"차원이 {MOST_DIMENSIONS}개를 넘습니다. 더 많으면 배열로 주십시오: jumok.attend(x=…)",
                )
        if not found:
            raise self.wrong(
                node,
                "dimensions: needs at least one name, such as [Person, Action]",
                "dimensions:에 이름이 적어도 하나 필요합니다. 예: [Person, Action]",
            )
        return found

    def embeddings(self, node: Node, *, random: bool) -> Any:
        rows: list[Any] = []
        for item in self.items(node, "tokens", "tokens", "- cat: {Animal: 1}"):
            if isinstance(item, Scalar):
                key, values = item, None
            elif isinstance(item, Map) and len(item.pairs) == 1:
                key, values = item.pairs[0]
            else:
                raise self.wrong(
                    item,
                    "a token is one entry such as `- cat: {Animal: 1}`",
                    "토큰은 `- cat: {Animal: 1}`처럼 한 항목으로 씁니다",
                )
            self.tokens.append(self.nfc(key.text))
            rows.append((item, values))
        if not rows:
            raise self.wrong(
                node,
                "there is no token; write at least one, such as `- cat: {Animal: 1}`",
                "토큰이 없습니다. `- cat: {Animal: 1}`처럼 하나 이상 쓰십시오",
            )
        if len(rows) > MOST_TOKENS:
            raise self.wrong(
                node,
                f"{len(rows)} tokens; an example holds at most {MOST_TOKENS}. For more give arrays: jumok.attend(x=…)",
                f"토큰이 {len(rows)}개입니다. 예제에는 {MOST_TOKENS}개까지 쓸 수 있습니다. 더 길면 배열로 주십시오: jumok.attend(x=…)",
            )
        if random:
            for item, values in rows:
                if values is not None and not (isinstance(values, Map) and not values.pairs):
                    raise self.wrong(
                        item,
                        "with random: the tokens carry no numbers of their own; write only the word",
                        "random:을 쓸 때 토큰에는 숫자를 쓰지 않습니다. 낱말만 쓰십시오",
                    )
            return np.zeros((len(rows), 1))
        first = next((values for _, values in rows if isinstance(values, Seq)), None)
        if self.dimensions is None and first is None:
            raise self.wrong(
                node,
                "dimensions: is missing; name them, such as `dimensions: [Person, Action]`",
                "dimensions: 항목이 없습니다. `dimensions: [Person, Action]`처럼 차원의 이름을 쓰십시오",
            )
        width = len(self.dimensions) if self.dimensions is not None else len(first.items) if first else 0
        self.room(node, len(rows), width)
        return np.array([self.embedding(values, width) for _, values in rows])

    def embedding(self, values: Node | None, width: int) -> list[float]:
        if isinstance(values, Seq):
            return self.numbers(values, width, "the token's embedding", "토큰의 임베딩")
        row = [0.0] * width
        if values is None or (isinstance(values, Scalar) and not values.text and not values.quoted):
            return row
        for key, value in self.pairs(values, "a token's embedding", "토큰의 임베딩", "{Animal: 1}"):
            row[self.dimension(key)] = self.number(value)
        return row

    def random(self, node: Node | None, top: dict[str, Node]) -> dict[str, Any]:
        known = ["seed", "generator", "order", "scale", "d_model", "d_k"]
        part = self.names(node, known, "random", "random")
        for name in ("weights", "layers"):
            if name in top:
                raise self.wrong(
                    top[name],
                    f"{name}: cannot stand beside random:; keep one of them",
                    f"{name}:은(는) random:과 함께 쓸 수 없습니다. 하나만 남기십시오",
                )
        for name in ("d_model", "d_k"):
            if name not in part:
                raise self.wrong(
                    node, f"random: needs {name}, a whole number", f"random:에는 {name}(정수)이 필요합니다"
                )
        order = (
            [
                self.choice(item, ["x", "w_q", "w_k", "w_v", "w_o"])
                for item in self.items(part["order"], "order", "order", "[x, w_q, w_k, w_v]")
            ]
            if "order" in part
            else ["x", "w_q", "w_k", "w_v"]
        )
        if len(set(order)) < len(order) or not {"x", "w_q", "w_k", "w_v"} <= set(order):
            raise self.wrong(
                part.get("order", node),
                "order: names x, w_q, w_k and w_v once each (and w_o where there is one)",
                "order:에는 x, w_q, w_k, w_v를 한 번씩 씁니다(있으면 w_o도)",
            )
        scale_node = part.get("scale")
        scales = self.names(scale_node, order, "scale", "scale") if scale_node is not None else {}
        d_model, d_k = (self.whole(part[name], 1, MOST_DIMENSIONS) for name in ("d_model", "d_k"))
        if self.dimensions is not None and len(self.dimensions) != d_model:
            raise self.wrong(
                part["d_model"],
                f"d_model is {d_model}, but {len(self.dimensions)} dimensions are declared",
                f"d_model은 {d_model}인데 선언된 차원은 {len(self.dimensions)}개입니다",
            )
        return {
            "seed": self.whole(part["seed"], 0, 2**32 - 1) if "seed" in part else 0,
            "generator": self.choice(part["generator"], ["numpy-legacy", "numpy"])
            if "generator" in part
            else "numpy-legacy",
            "order": order,
            "scale": {name: self.random_scale(value) for name, value in scales.items()},
            "d_model": d_model,
            "d_k": d_k,
        }

    def random_scale(self, node: Node) -> float:
        value = self.number(node)
        if abs(value) > MOST_SCALE:
            raise self.wrong(
                node,
                f"a scale from {-MOST_SCALE:g} to {MOST_SCALE:g} is expected, such as 0.5, got {value:g}",
                f"{-MOST_SCALE:g}부터 {MOST_SCALE:g}까지의 배율(예: 0.5)이 필요한데 {value:g}이(가) 왔습니다",
            )
        return value

    def layers(self, top: dict[str, Node], root: Node, x: Any, drawn: dict[str, Any]) -> tuple[Block, ...]:
        if "layers" not in top:
            return (self.block(top, root, x.shape[1], drawn)[0],)
        for name in BLOCK:
            if name in top:
                raise self.wrong(
                    top[name],
                    f"{name}: stands inside each layer when layers: is used",
                    f"layers:를 쓸 때 {name}:은(는) 각 층 안에 씁니다",
                )
        blocks: list[Block] = []
        width = x.shape[1]
        for item in self.items(top["layers"], "layers", "layers", "- weights: {w_q: identity}"):
            block, width = self.block(self.names(item, BLOCK, "a layer", "층"), item, width, {})
            blocks.append(block)
            self.n_scores += block.n_heads * len(self.tokens) ** 2
            if self.n_scores > MOST_SCORES:
                raise self.wrong(
                    item,
                    f"{len(self.tokens)} tokens with {block.n_heads} heads in {len(blocks)} layers are too much for an example. "
                    "For more give arrays: jumok.attend(x=…)",
                    f"토큰 {len(self.tokens)}개, 헤드 {block.n_heads}개, 층 {len(blocks)}개는 예제로는 너무 큽니다. "
                    "더 크면 배열로 주십시오: jumok.attend(x=…)",
                )
        if not blocks:
            raise self.wrong(
                top["layers"], "layers: needs at least one layer", "layers:에는 층이 적어도 하나 필요합니다"
            )
        return tuple(blocks)

    def block(self, part: dict[str, Node], where: Node, d_model: int, drawn: dict[str, Any]) -> tuple[Block, int]:
        """A layer, and how wide its output is."""
        n_heads = self.whole(part["heads"], 1, 256) if "heads" in part else 1
        weights = dict(drawn)
        if "weights" in part:
            given = self.names(part["weights"], WEIGHTS, "weights", "weights")
            weights |= {name: self.weight(name, node, d_model) for name, node in given.items()}
        for name in ("w_q", "w_k", "w_v"):
            if name not in weights:
                self.room(where, d_model, d_model)
                weights[name] = np.eye(d_model)
        block = Block(
            **weights,
            n_heads=n_heads,
            n_kv_heads=self.whole(part["kv_heads"], 1, n_heads) if "kv_heads" in part else None,
            scale=self.above_zero(part["scale"], "scale") if "scale" in part else None,
            temperature=self.above_zero(part["temperature"], "temperature") if "temperature" in part else 1.0,
            positions=self.positions(part.get("positions"), n_heads),
            allowed=self.mask(part.get("mask")),
            residual=self.yes_or_no(part["residual"]) if "residual" in part else False,
        )
        self.check_heads(block, part, where)
        try:
            block.rule()
        except InputError as error:
            raise self.refused(part.get("temperature", part.get("scale", where)), error) from None
        self.check_mask(block.allowed, part.get("mask", where))
        n_kv_heads = block.n_kv_heads or block.n_heads
        width: int = block.w_v.shape[1] // n_kv_heads * block.n_heads if block.w_o is None else block.w_o.shape[1]
        if block.residual and width != d_model:
            raise self.wrong(
                part["residual"],
                f"residual adds the output to x, but the output is {width} wide and x is {d_model}; "
                "set w_o or w_v so that they agree",
                f"잔차 연결은 출력을 x에 더하는데 출력의 너비는 {width}, x는 {d_model}입니다. w_o나 w_v를 맞추십시오",
            )
        return block, width

    def check_heads(self, block: Block, part: dict[str, Node], where: Node) -> None:
        """Refuse heads that cannot share the columns of the weights, or the heads that are read, evenly."""
        n_kv_heads = block.n_kv_heads or block.n_heads
        at = part.get("kv_heads", part.get("heads", where))
        if block.n_heads % n_kv_heads:
            raise self.wrong(
                at,
                f"{block.n_heads} heads cannot share {n_kv_heads} kv_heads evenly; kv_heads must divide heads",
                f"헤드 {block.n_heads}개가 kv_heads {n_kv_heads}개를 고르게 나누어 쓸 수 없습니다. "
                "kv_heads는 heads를 나누어떨어지게 해야 합니다",
            )
        for name, n in (("w_q", block.n_heads), ("w_k", n_kv_heads), ("w_v", n_kv_heads)):
            width = getattr(block, name).shape[1]
            if width % n:
                raise self.wrong(
                    part.get("heads", where) if name == "w_q" else at,
                    f"{n} heads cannot share the {width} columns of {name} evenly; choose heads that divide {width}",
                    f"헤드 {n}개가 {name}의 열 {width}개를 고르게 나눌 수 없습니다. {width}의 약수를 쓰십시오",
                )

    def room(self, node: Node, n_rows: int, n_columns: int) -> None:
        """Count the numbers that a part of the file stands for; refuse more than an example holds."""
        self.n_numbers += n_rows * n_columns
        if self.n_numbers > MOST_NUMBERS:
            raise self.wrong(
                node,
                f"x and the weights hold more than {MOST_NUMBERS:,} numbers, too many for an example. "
                "For more give arrays: jumok.attend(x=…)",
                f"x와 가중치 행렬의 숫자가 {MOST_NUMBERS:,}개를 넘어 예제로는 너무 많습니다. "
                "더 많으면 배열로 주십시오: jumok.attend(x=…)",
            )

    def weight(self, name: str, node: Node, d_model: int) -> Any:
        if name[0] == "b":
            return np.array(self.numbers(node, None, name, name))
        self.room(node, d_model, d_model)
        if isinstance(node, Scalar):
            if node.text != "identity":
                raise self.wrong(
                    node,
                    f"{name} is identity, {{diagonal: …}}, {{rows: …}} or a matrix, got {brief(node.text)!r}",
                    f"{name}에는 identity, {{diagonal: …}}, {{rows: …}} 또는 행렬을 쓰는데 {brief(node.text)!r}이(가) 왔습니다",
                )
            return np.eye(d_model)
        if isinstance(node, Seq):
            rows = [self.numbers(row, None, f"a row of {name}", f"{name}의 행") for row in node.items]
            for row, item in zip(rows, node.items, strict=True):
                if len(row) != len(rows[0]):
                    raise self.wrong(
                        item,
                        f"this row of {name} has {len(row)} numbers, the first has {len(rows[0])}",
                        f"{name}의 이 행은 숫자가 {len(row)}개인데 첫 행은 {len(rows[0])}개입니다",
                    )
            if not rows:
                raise self.wrong(
                    node,
                    f"{name} is empty; write rows of numbers, such as [[1, 0], [0, 1]]",
                    f"{name}이(가) 비어 있습니다. [[1, 0], [0, 1]]처럼 행마다 숫자를 쓰십시오",
                )
            if name != "w_o" and len(rows) != d_model:
                raise self.wrong(
                    node,
                    f"{name} has {len(rows)} rows; one a dimension is expected, {d_model}",
                    f"{name}의 행이 {len(rows)}개입니다. 차원마다 한 행씩 {d_model}개가 필요합니다",
                )
            return np.array(rows)
        part = self.names(node, ["diagonal", "rows", "otherwise"], name, name)
        if self.dimensions is not None and len(self.dimensions) != d_model:
            raise self.wrong(
                node,
                f"{name} cannot use the names of the {len(self.dimensions)} dimensions: what it reads is {d_model} wide. "
                "Write it as a matrix [[…], […]]",
                f"{name}에는 차원 {len(self.dimensions)}개의 이름을 쓸 수 없습니다. 읽는 것의 너비가 {d_model}입니다. "
                "행렬 [[…], […]]로 쓰십시오",
            )
        if ("diagonal" in part) == ("rows" in part):
            raise self.wrong(
                node,
                f"{name} takes either diagonal: or rows:, such as {{diagonal: {{Knowledge: 3}}, otherwise: 1}}",
                f"{name}에는 diagonal:이나 rows: 가운데 하나를 씁니다. 예: {{diagonal: {{Knowledge: 3}}, otherwise: 1}}",
            )
        return self.diagonal(part, d_model) if "diagonal" in part else self.rows(name, part, d_model)

    def diagonal(self, part: dict[str, Node], d_model: int) -> Any:
        values = [self.number(part["otherwise"]) if "otherwise" in part else 1.0] * d_model
        for key, value in self.pairs(part["diagonal"], "diagonal", "diagonal", "{Knowledge: 3}"):
            values[self.dimension(key)] = self.number(value)
        return np.diag(values)

    def rows(self, name: str, part: dict[str, Node], d_model: int) -> Any:
        rest = self.choice(part["otherwise"], ["identity", "zero"]) if "otherwise" in part else "identity"
        named = [
            (key, self.row(name, key, value, d_model))
            for key, value in self.pairs(part["rows"], "rows", "rows", "{Action: {Person: 2}}")
        ]
        widths = {len(row) for _, row in named}
        width = widths.pop() if len(widths) == 1 else d_model
        if widths or (rest == "identity" and width != d_model):
            raise self.wrong(
                part["rows"],
                f"the rows of {name} must be equally long; with otherwise: identity, {d_model} numbers each",
                f"{name}의 행은 길이가 같아야 합니다. otherwise: identity이면 숫자가 {d_model}개씩이어야 합니다",
            )
        self.room(part["rows"], d_model, width)
        matrix = np.eye(d_model, width) if rest == "identity" else np.zeros((d_model, width))
        for key, row in named:
            matrix[self.dimension(key)] = row
        return matrix

    def row(self, name: str, key: Scalar, node: Node, d_model: int) -> list[float]:
        what, what_ko = f"the row {brief(key.text)!r} of {name}", f"{name}의 {brief(key.text)!r} 행"
        if isinstance(node, Seq):
            return self.numbers(node, None, what, what_ko)
        row = [0.0] * d_model
        for column, value in self.pairs(node, what, what_ko, "{Person: 2, Action: 1}"):
            row[self.dimension(column)] = self.number(value)
        return row

    def positions(self, node: Node | None, n_heads: int) -> str | PositionBias:
        if node is None:
            return "none"
        if isinstance(node, Scalar):
            named = self.choice(node, ["none", "sinusoidal", "rotary", "alibi"])
            return alibi(alibi_slopes(n_heads)) if named == "alibi" else named
        part = self.names(node, ["alibi"], "positions", "positions")
        if "alibi" not in part:
            raise self.wrong(
                node,
                "positions is none, sinusoidal, rotary, alibi or {alibi: [slope a head]}",
                "positions에는 none, sinusoidal, rotary, alibi 또는 {alibi: [헤드별 기울기]}를 씁니다",
            )
        slopes = self.numbers(part["alibi"], n_heads, "alibi (one slope a head)", "alibi(헤드마다 기울기 하나)")
        return alibi(slopes)

    # masks ------------------------------------------------------------------------------------

    def mask(self, node: Node | None) -> Allowed:
        if node is None:
            return rules.everything()
        if isinstance(node, Scalar):
            return {"none": rules.everything, "causal": rules.causal}[self.choice(node, ["none", "causal"])]()
        if isinstance(node, Seq):
            return self.mask_table(node)
        kinds: dict[str, Callable[[Node], Allowed]] = {
            "window": self.mask_window,
            "table": self.mask_table,
            "document": lambda part: rules.document(
                [self.whole(item, 0, 10**6) for item in self.items_of(part, len(self.tokens), "document")]
            ),
            "padding": self.mask_padding,
            "all": lambda part: self.joined(part, lambda a, b: a & b),
            "any": lambda part: self.joined(part, lambda a, b: a | b),
        }
        part = self.names(node, list(kinds), "mask", "mask")
        if len(part) != 1:
            raise self.wrong(
                node,
                "a mask is one of none, causal, {window: 2}, a table; join several with {all: [causal, {window: 2}]}",
                "mask에는 none, causal, {window: 2}, 표 가운데 하나를 씁니다. 여럿은 {all: [causal, {window: 2}]}로 잇습니다",
            )
        ((kind, inner),) = part.items()
        return kinds[kind](inner)

    def mask_window(self, node: Node) -> Allowed:
        if isinstance(node, Scalar):
            return rules.window(self.whole(node, 0, 10**6))
        if isinstance(node, Seq):
            back, ahead = (self.whole(item, 0, 10**6) for item in self.items_of(node, 2, "window"))
            return rules.window(back, ahead)
        raise self.wrong(
            node,
            "window is a number of earlier tokens, or [back, ahead]",
            "window에는 볼 수 있는 앞 토큰의 수, 또는 [앞, 뒤]를 씁니다",
        )

    def mask_table(self, node: Node) -> Allowed:
        n = len(self.tokens)
        if isinstance(node, Seq):
            rows = self.items_of(node, n, "mask")
            return rules.table(
                np.array([[self.yes_or_no(cell) for cell in self.items_of(row, n, "mask")] for row in rows])
            )
        table = np.ones((n, n), dtype=bool)
        for query, value in self.by_token(node, "table", "table", "{it: [cat, mat]}"):
            table[query] = False
            for item in self.items(value, "what the token may read", "토큰이 볼 수 있는 것", "[cat, mat]"):
                table[query, self.token(item)] = True
        return rules.table(table)

    def mask_padding(self, node: Node) -> Allowed:
        real = np.ones(len(self.tokens), dtype=bool)
        for item in self.items(node, "padding (the tokens that are padding)", "padding(채움 토큰)", "[pad#1, pad#2]"):
            real[self.token(item)] = False
        return rules.padding(real)

    def joined(self, node: Node, join: Callable[[Allowed, Allowed], Allowed]) -> Allowed:
        parts = [
            self.mask(item) for item in self.items(node, "a list of masks", "마스크 목록", "[causal, {window: 2}]")
        ]
        if not parts:
            raise self.wrong(
                node,
                "a list of masks is expected, such as [causal, {window: 2}]",
                "[causal, {window: 2}] 같은 마스크 목록이 필요합니다",
            )
        made = parts[0]
        for part in parts[1:]:
            made = join(made, part)
        return made

    def check_mask(self, allowed: Allowed, node: Node) -> None:
        at = np.arange(len(self.tokens))
        try:
            allowed.fits(len(at), len(at))
        except InputError as error:
            raise self.refused(node, error) from None
        if not np.any(allowed.block(at, at)):
            raise self.wrong(
                node,
                "the mask leaves no token anything to read; let at least one token read one",
                "마스크 때문에 어떤 토큰도 볼 것이 없습니다. 적어도 한 토큰은 하나를 볼 수 있어야 합니다",
            )

    # wishes and words -------------------------------------------------------------------------

    def wanted(self, node: Node | None, layers: tuple[Block, ...]) -> tuple[dict[int, dict[int, float]], ...]:
        if node is None:
            return ()
        is_list = isinstance(node, Seq) and all(isinstance(one, Map) for one in node.items)
        if not isinstance(node, Map) and not is_list:
            raise self.unwritten_wish(node, None)
        tables = list(node.items) if isinstance(node, Seq) else [node]
        n_heads = layers[-1].n_heads
        if len(tables) not in (1, n_heads):
            raise self.wrong(
                node,
                f"wanted: has {len(tables)} tables; one a head is expected, {n_heads}",
                f"wanted:에 표가 {len(tables)}개 있습니다. 헤드마다 하나씩 {n_heads}개가 필요합니다",
            )
        return tuple(
            {
                query: self.wanted_row(row, query)
                for query, row in self.by_token(table, "wanted", "wanted", "{it: {cat: 0.9}}")
            }
            for table in tables
        )

    def unwritten_wish(self, node: Node, query: int | None) -> ExampleError:
        """A wish that is written as words with commas, or as a bare list: how it is written with the tokens of this file.

        ``query`` is None for the whole of ``wanted``, else the token whose row it is.
        """
        items = node.items if isinstance(node, Seq) else ()
        words = [one.text for one in (items or [node]) if isinstance(one, Scalar)]
        got = ", ".join(self.nfc(word) for word in words)
        known = sorted(self.tokens, key=len, reverse=True)
        named = re.findall("|".join(map(re.escape, known)), got) if all(known) else []
        named = list(dict.fromkeys(named))
        weights = re.findall(r"(?<![\w.])(?:0?\.[0-9]+|[01](?:\.[0-9]*)?)(?![\w.])", got)
        asks = (named.pop(0) if len(named) > 1 else self.tokens[-1]) if query is None else self.tokens[query]
        if query is not None and not named and len(weights) == len(self.tokens) <= MOST_NAMES:
            named = list(self.tokens)
        named = named or [self.tokens[0]]
        if len(weights) != len(named) or sum(map(float, weights)) > 1 + 1e-6:
            named, weights = named[:1], ["0.5"]
        row = ", ".join(f"{_key(key)}: {weight}" for key, weight in zip(named, weights, strict=True))
        form = f"wanted: {{{_key(asks)}: {{{row}}}}}"
        came, came_ko = (f"; got {brief(got)!r}", f" {brief(got)!r}이(가) 왔습니다.") if got else ("", "")
        return self.wrong(
            node,
            f"wanted: names a query, and in braces its keys with their weights, such as {form}{came}",
            f"wanted:에는 쿼리를 쓰고 중괄호 안에 키와 가중치를 씁니다. 예: {form}.{came_ko}".rstrip("."),
        )

    def wanted_row(self, node: Node, query: int) -> dict[int, float]:
        if not isinstance(node, Map):
            raise self.unwritten_wish(node, query)
        for _, value in node.pairs:
            if isinstance(value, Scalar) and not value.text.strip():
                self.number(value)  # a decimal comma makes an empty one of what is behind it
        if isinstance(node, Map) and not node.pairs:
            raise self.wrong(
                node,
                "a wanted row says nothing; give at least one weight such as {cat: 0.9}, or leave the row out",
                "바라는 행이 비어 있습니다. {cat: 0.9}처럼 가중치를 하나 이상 쓰거나 행을 빼십시오",
            )
        row: dict[int, float] = {}
        for key, value in self.by_token(node, "a wanted row", "바라는 행", "{cat: 0.9}"):
            weight = self.number(value)
            if weight < 0:
                raise self.wrong(
                    value,
                    f"a wanted weight is between 0 and 1, got {weight:g}",
                    f"바라는 가중치는 0과 1 사이여야 하는데 {weight:g}입니다",
                )
            row[key] = weight
        total = math.fsum(row.values())
        if total > 1 + 1e-6 or (len(row) == len(self.tokens) and abs(total - 1) > 1e-6):
            raise self.wrong(
                node,
                f"the wanted weights of a row sum to 1, these to {total:g}",
                f"한 행에서 바라는 가중치의 합은 1이어야 하는데 {total:g}입니다",
            )
        return row

    def meaning(self, node: Node | None) -> dict[str, dict[str, str]]:
        if node is None:
            return {}
        pairs = self.pairs(node, "meaning", "meaning", "{Person: {en: who, ko: 누가}}")
        return {(self.dimensions or [])[self.dimension(key)]: self.by_language(value) for key, value in pairs}

    def by_language(self, node: Node | None) -> dict[str, str]:
        if node is None:
            return {}
        if isinstance(node, Scalar):
            return dict.fromkeys(LANGS, node.text)
        return {
            lang: self.text(value) for lang, value in self.names(node, LANGS, "a text by language", "언어별 글").items()
        }

    def check(self, example: Example, top: dict[str, Node], root: Node) -> None:
        """What only the whole can show: sizes that disagree, scores that overflow."""
        from .example import attended

        try:
            attended(example)
        except JumokError as error:
            raise self.refused(top.get("weights", top.get("layers", root)), error) from None

    # small readers ----------------------------------------------------------------------------

    def names(self, node: Node | None, known: Iterable[str], what: str, what_ko: str) -> dict[str, Node]:
        known = list(known)
        some = ", ".join(known)
        if not isinstance(node, Map):
            raise self.wrong(
                node, f"{what} expects names with values ({some})", f"{what_ko}에는 이름과 값이 필요합니다({some})"
            )
        for key, _ in node.pairs:
            if key.text not in known:
                raise self.unknown(key, "name", "이름", known)
        return {key.text: value for key, value in node.pairs}

    def pairs(self, node: Node, what: str, what_ko: str, such_as: str) -> tuple[tuple[Scalar, Node], ...]:
        if isinstance(node, Map):
            return node.pairs
        raise self.wrong(
            node,
            f"{what} expects names with values, such as {such_as}",
            f"{what_ko}에는 {such_as}처럼 이름과 값이 필요합니다",
        )

    def by_token(self, node: Node, what: str, what_ko: str, such_as: str) -> Iterator[tuple[int, Node]]:
        """Names that are tokens, as positions, with values; no token stands twice (cat and cat#1 are one)."""
        seen: set[int] = set()
        for key, value in self.pairs(node, what, what_ko, such_as):
            at = self.token(key)
            if at in seen:
                raise self.wrong(
                    key,
                    f"{what} names the token {brief(self.tokens[at])!r} twice; keep one",
                    f"{what_ko}에 토큰 {brief(self.tokens[at])!r}이(가) 두 번 나옵니다. 하나만 남기십시오",
                )
            seen.add(at)
            yield at, value

    def items(self, node: Node, what: str, what_ko: str, such_as: str) -> tuple[Node, ...]:
        if isinstance(node, Seq):
            return node.items
        raise self.wrong(
            node, f"{what} expects a list, such as {such_as}", f"{what_ko}에는 {such_as} 같은 목록이 필요합니다"
        )

    def items_of(self, node: Node, n: int, what: str) -> tuple[Node, ...]:
        items = self.items(node, what, what, "[1, 0]")
        if len(items) != n:
            raise self.wrong(
                node,
                f"{what} expects {n} entries here, got {len(items)}",
                f"{what}에는 여기에 항목 {n}개가 필요한데 {len(items)}개가 왔습니다",
            )
        return items

    def text(self, node: Node) -> str:
        if isinstance(node, Scalar):
            return node.text
        raise self.wrong(node, "a text is expected here", "여기에는 글이 필요합니다")

    def number(self, node: Node) -> float:
        text = self.text(node).strip()
        try:
            value = float(text.lower().replace(".nan", "nan").replace(".inf", "inf")) if "_" not in text else None
        except ValueError:
            value = None
        if value is None and not text:
            raise self.wrong(
                node,
                "a number is missing here; behind a name stand a colon, a space and its number: {Animal: 1}, with a point "
                "in it where it needs one: {Animal: 0.5}",
                "여기에 숫자가 없습니다. {Animal: 1}처럼 이름 뒤에 콜론(:)과 공백, 숫자를 쓰고, 소수점은 쉼표가 아니라 점입니다: {Animal: 0.5}",
            )
        if value is None:
            comma = re.fullmatch(r"[+-]?\d+,\d+", text) is not None
            hint, hint_ko = (" (write a point, not a comma)", "(쉼표가 아니라 점으로 씁니다)") if comma else ("", "")
            raise self.wrong(
                node,
                f"a number such as 0.5 is expected, got {brief(text)!r}{hint}",
                f"0.5 같은 숫자가 필요한데{hint_ko} {brief(text)!r}이(가) 왔습니다",
            )
        if not math.isfinite(value):
            raise self.wrong(
                node,
                f"a finite number is expected (no NaN, no infinity), got {brief(text)}",
                f"유한한 숫자가 필요한데(NaN, 무한대 불가) {brief(text)}이(가) 왔습니다",
            )
        return value

    def numbers(self, node: Node, n: int | None, what: str, what_ko: str) -> list[float]:
        found = [self.number(item) for item in self.items(node, what, what_ko, "[1, 0, 0.5]")]
        if n is not None and len(found) != n:
            raise self.wrong(
                node,
                f"{what} has {len(found)} numbers; {n} are expected",
                f"{what_ko}에 숫자가 {len(found)}개 있습니다. {n}개가 필요합니다",
            )
        if not found:
            raise self.wrong(
                node,
                f"{what} is empty; write its numbers, such as [1, 0, 0.5]",
                f"{what_ko}이(가) 비어 있습니다. [1, 0, 0.5]처럼 숫자를 쓰십시오",
            )
        return found

    def whole(self, node: Node, least: int, most: int) -> int:
        text = self.text(node).strip()
        if text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most:
            return int(text)
        raise self.wrong(
            node,
            f"a whole number from {least} to {most} is expected, got {brief(text)!r}",
            f"{least}부터 {most}까지의 정수가 필요한데 {brief(text)!r}이(가) 왔습니다",
        )

    def above_zero(self, node: Node, name: str) -> float:
        value = self.number(node)
        if value <= 0:
            raise self.wrong(
                node, f"{name} must be above 0, got {value:g}", f"{name}은(는) 0보다 커야 하는데 {value:g}입니다"
            )
        return value

    def yes_or_no(self, node: Node) -> bool:
        text = self.text(node).strip().lower()
        if text not in ("1", "0", "true", "false", "yes", "no"):
            raise self.wrong(
                node,
                f"1 (yes) or 0 (no) is expected, got {brief(text)!r}",
                f"1(예)이나 0(아니요)이 필요한데 {brief(text)!r}이(가) 왔습니다",
            )
        return text in ("1", "true", "yes")

    def choice(self, node: Node, known: list[str]) -> str:
        if self.text(node) not in known:
            raise self.unknown(node, "choice", "값", known)
        return self.text(node)

    def dimension(self, key: Scalar) -> int:
        name = self.nfc(key.text)
        if name not in (self.dimensions or []):
            raise self.unknown(key, "dimension", "차원", self.dimensions or [])
        return (self.dimensions or []).index(name)

    def token(self, node: Node) -> int:
        from ..tokens import Token, token_index

        try:
            return token_index([Token(token) for token in self.tokens], self.text(node))
        except InputError as error:
            raise self.refused(node, error) from None

    def unknown(self, node: Node, what: str, what_ko: str, known: list[str]) -> ExampleError:
        got = brief(self.nfc(self.text(node)))
        near = difflib.get_close_matches(got, known, n=1, cutoff=0.5)
        maybe, maybe_ko = (f"; did you mean {near[0]!r}?", f". 혹시 {near[0]!r}입니까?") if near else (".", ".")
        some = ", ".join(brief(name) for name in [*known[:MOST_NAMES], *(["…"] if len(known) > MOST_NAMES else [])])
        return self.wrong(
            node,
            f"unknown {what} {got!r}{maybe} " + (f"There are: {some}" if known else f"There is no {what} here"),
            f"알 수 없는 {what_ko} {got!r}입니다{maybe_ko} "
            + (f"쓸 수 있는 것: {some}" if known else "쓸 수 있는 것이 없습니다"),
        )

    @staticmethod
    def nfc(text: str) -> str:
        return unicodedata.normalize("NFC", text)

    def refused(self, node: Node | None, error: JumokError) -> ExampleError:
        """What another part refused, at its place in the file."""
        return self.wrong(node, error.en.rstrip("."), error.ko.rstrip("."))

    def wrong(self, node: Node | None, en: str, ko: str) -> ExampleError:
        line, column = (node.line, node.column) if node is not None else (None, None)
        return refused(self.name, en, ko, line, column)


def _key(token: str) -> str:
    """A token as it can stand before a colon."""
    name = brief(token)
    return name if re.fullmatch(r"[^\W\d_](?:[\w -]*\w)?", name) else json.dumps(name, ensure_ascii=False)
