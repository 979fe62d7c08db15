"""What the learner's source tells beside what it does: documentation, numbers, style, and the line to look at.

It names what to try, comments on what was found by behaviour, and chooses between mistakes that behave the same; it never
finds one.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Source"]


class Source:
    """The part of a source that a function uses: itself, and what it calls of the same file."""

    def __init__(self, text: str, name: str, first_line: int = 1) -> None:
        self.lines = text.splitlines()
        self.first_line = first_line
        try:
            self.tree: ast.Module | None = ast.parse(text)
        except (SyntaxError, ValueError):
            self.tree = None
        self.nodes = self._used(name.split(".")[0])
        self.text = text

    def _used(self, name: str) -> list[ast.stmt]:
        if self.tree is None:
            return []
        named: dict[str, ast.stmt] = {}
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                named[node.name] = node
            elif isinstance(node, ast.Assign):
                named |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
        if name not in named:
            return list(self.tree.body)
        found: dict[str, ast.stmt] = {}
        waiting = [name]
        while waiting:
            at = waiting.pop()
            if at in named and at not in found:
                found[at] = named[at]
                waiting += [node.id for node in ast.walk(named[at]) if isinstance(node, ast.Name)]
        return sorted(set(found.values()), key=lambda node: node.lineno)

    def walk(self) -> Iterator[ast.AST]:
        """Every node of the part that is used."""
        for node in self.nodes:
            yield from ast.walk(node)

    @property
    def documentation(self) -> str:
        """Docstrings and comments, and the module's own docstring."""
        texts = [ast.get_docstring(self.tree) or ""] if self.tree is not None else []
        said = [node for node in self.walk() if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        texts += [ast.get_docstring(node) or "" for node in said]
        return "\n".join([*texts, *self._comments()])

    def _comments(self) -> list[str]:
        spans = [(node.lineno, node.end_lineno or node.lineno) for node in self.nodes]
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (tokenize.TokenError, SyntaxError):
            return []
        return [
            token.string.lstrip("# ")
            for token in tokens
            if token.type == tokenize.COMMENT and any(a - 1 <= token.start[0] <= b for a, b in spans)
        ]

    @property
    def numbers(self) -> list[float]:
        """The numbers that stand in it, with their signs."""
        found = []
        for node in self.walk():
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_number(node.operand):
                found.append(-float(node.operand.value))  # type: ignore[attr-defined]
            elif _is_number(node):
                found.append(float(node.value))  # type: ignore[attr-defined]
        return sorted(set(found))[:60]

    @property
    def axes(self) -> set[int]:
        """The axes of which its softmax, sums and maxima speak."""
        found = set()
        for node in self.walk():
            if isinstance(node, ast.Call) and re.search(r"softmax|sum|max\b", ast.unparse(node.func), re.IGNORECASE):
                said = [one.value for one in node.keywords if one.arg in ("axis", "dim")] or node.args[-1:]
                found |= {ast.unparse(one) for one in said}
        return {int(one) for one in found if re.fullmatch(r"-?\d", one)}

    @property
    def takes_batches(self) -> bool:
        """Whether it turns axes in a way that is only needed where there are more than two."""
        return any(_is_of_batches(node) for node in self.walk())

    def calls(self, pattern: str) -> list[int]:
        """The lines on which something of such a name is called or used."""
        lines = []
        for node in self.walk():
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if name and re.fullmatch(pattern, name):
                lines.append(getattr(node, "end_lineno", 0) or 0)
        return sorted(set(lines))

    def remarks(self) -> list[str]:
        """How it is written, where it is not written in the plain way."""
        return [name for name, is_so in _REMARKS.items() if is_so(self)]

    def line(self, mistake: str, detail: str = "") -> tuple[int, str] | None:
        """The line to look at for a mistake, with its text, where there is exactly one that it can be."""
        find = _LINES.get(f"{mistake} {detail}".strip()) or _LINES.get(mistake)
        lines = sorted(set(find(self))) if find else []
        return self.at(lines[0]) if len(lines) == 1 else None

    def at(self, line: int) -> tuple[int, str] | None:
        """A line by its number in this text: (number in its file, text)."""
        if not 1 <= line <= len(self.lines):
            return None
        return line + self.first_line - 1, self.lines[line - 1].strip()


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


_TURNS = {"swapaxes", "transpose", "permute", "moveaxis", "movedim", "matrix_transpose"}


def _is_of_batches(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("mT", "bmm", "baddbmm")
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("einsum", "rearrange"):
        text = ast.unparse(node)
        return "..." in text or re.search(r"[a-zA-Z]{3}", text.partition("(")[2]) is not None
    turned = {ast.unparse(one) for one in ast.walk(node) if isinstance(one, ast.Constant | ast.UnaryOp)} - {"0", "1"}
    return name == "matrix_transpose" or (name in _TURNS and bool(turned))


def _products(source: Source) -> list[int]:
    """The lines of matrix products."""
    lines = [node.lineno for node in source.walk() if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
    return sorted({*lines, *source.calls("matmul|bmm|einsum|dot|mm|baddbmm")})


def _scores(source: Source) -> list[int]:
    """The lines of products in which a query and a key stand."""
    found = []
    for line in _products(source):
        names = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", source.lines[line - 1]).lower()))
        if names & {"q", "query", "queries", "xq", "qh", "qs"} and names & {"k", "key", "keys", "xk", "kh", "ks"}:
            found.append(line)
    projections = set(source.calls(r"[wW]_?[qkvQKV].*|.*_proj"))
    return [line for line in found if line not in projections] or found


def _scale(source: Source) -> list[int]:
    roots = source.calls("sqrt|rsqrt")
    powers = [
        node.lineno
        for node in source.walk()
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Pow)
        and ast.unparse(node.right).strip("()-") in ("0.5", "1 / 2")
    ]
    return sorted({*roots, *powers})


def _scale_or_division(source: Source) -> list[int]:
    found = _scale(source)
    if found:
        return found
    return [line for line in _scores(source) if "/" in source.lines[line - 1]] or _divisions(source)


def _divisions(source: Source) -> list[int]:
    divisions = [
        node.lineno
        for node in source.walk()
        if isinstance(node, ast.BinOp | ast.AugAssign)
        and isinstance(node.op, ast.Div)
        and not re.search("sum|total|norm", ast.unparse(node))
    ]
    return sorted(set(divisions))


def _softmax(source: Source) -> list[int]:
    """The lines where the axis of a softmax or of its sum is written, and is not the last."""
    own = {node.name: node for node in source.walk() if isinstance(node, ast.FunctionDef)}
    found = [node for node in _axis_calls(source, "softmax|sum") if not _leaves_axis(node, own)]
    kept = [line for node in found if _axis_said(node) not in ("-1", "?") and (line := _line_of(node))]
    if kept or found:
        return kept
    return [node.lineno for node in own.values() if _axis_default(node) not in (None, "-1")]


def _softmax_top(source: Source) -> list[int]:
    """The lines where a maximum over another axis than the last is taken."""
    return [_line_of(node) for node in _axis_calls(source, "a?max") if _axis_said(node) not in ("", "-1", "?")]


def _axis_calls(source: Source, words: str) -> list[ast.Call]:
    calls = [node for node in source.walk() if isinstance(node, ast.Call)]
    return [node for node in calls if re.search(rf"({words})$", _called(node), re.IGNORECASE)]


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _line_of(node: ast.Call) -> int:
    return node.func.end_lineno or node.lineno


def _axis_said(node: ast.Call) -> str:
    """The axis as it is written: "" where none is, "?" where it is no plain number."""
    said = [one.value for one in node.keywords if one.arg in ("axis", "dim")]
    is_method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in _LIBRARIES
    said = said or node.args[0 if is_method or _called(node) == "Softmax" else 1 :][:1]
    if not said:
        return ""
    return ast.unparse(said[0]) if re.fullmatch(r"-?\d", ast.unparse(said[0])) else "?"


_LIBRARIES = ("np", "numpy", "torch", "F", "nn", "nn.functional", "torch.nn.functional", "scipy.special", "special")


def _leaves_axis(node: ast.Call, own: dict[str, ast.FunctionDef]) -> bool:
    """Whether it hands the question on: to a function of the same file, to a module that knows its axis, to a name; or has no axis."""
    said = _axis_said(node)
    is_own = _called(node) in own or ast.unparse(node.func).startswith("self.")
    adds_up_a_loop = isinstance(node.args[0] if node.args else None, ast.GeneratorExp | ast.ListComp)
    return said == "?" or (said == "" and is_own) or adds_up_a_loop


def _axis_default(node: ast.FunctionDef) -> str | None:
    """The axis that a function takes where none is given, as it is written."""
    named = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    both = [
        *zip(named, node.args.defaults, strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    return next((ast.unparse(value) for one, value in both if one.arg in ("axis", "dim") and value is not None), None)


def _mask(source: Source) -> list[int]:
    return source.calls("masked_fill_?|where|putmask|copyto") or [
        number
        for number, line in enumerate(source.lines, 1)
        if re.search(r"mask|allowed|hidden|visible", line)
        and re.search(r"[-+*]=|[*]|\] *=", line)
        and not line.strip().startswith(("def ", "#"))
    ]


def _assigned_from(source: Source, target: str, made_of: str) -> list[int]:
    """Lines such as ``v = x @ w_k``, where a name is made of another's matrix."""
    who = {"q": "q|query|queries", "k": "k|key|keys", "v": "v|val|value|values"}
    return [
        number
        for number, line in enumerate(source.lines, 1)
        if re.match(rf"\s*({who[target]})\w*\s*=[^=]", line, re.IGNORECASE)
        and re.search(rf"(w_?|to_|\b)({who[made_of]})(_?w|_proj)?\b", line.partition("=")[2], re.IGNORECASE)
        and not re.search(rf"(w_?|to_|\b)({who[target]})(_?w|_proj)?\b", line.partition("=")[2], re.IGNORECASE)
    ]


def _roles(source: Source, roles: str) -> list[int]:
    return [
        line for target, made_of in zip("qkv", roles, strict=True) if target != made_of
        for line in _assigned_from(source, target, made_of)
    ]  # fmt: skip


def _changed(source: Source) -> list[int]:
    names = {one.arg for node in source.walk() if isinstance(node, ast.FunctionDef) for one in node.args.args}
    return [line for node in source.walk() if _changes(node, names) and (line := getattr(node, "lineno", None))]


def _changes(node: Any, names: set[str]) -> bool:
    """Whether a statement writes into what one of the names holds."""
    if isinstance(node, ast.AugAssign):
        return _base(node.target) in names
    if isinstance(node, ast.Assign):
        return any(isinstance(one, ast.Subscript) and _base(one) in names for one in node.targets)
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_method and node.func.attr.endswith("_") and _base(node.func) in names


def _base(node: ast.AST) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _returns(source: Source) -> list[int]:
    return [node.lineno for node in source.walk() if isinstance(node, ast.Return) and node.value is not None]


def _values(source: Source) -> list[int]:
    """The line of the last product, which mixes the values."""
    scores = set(_scores(source))
    rest = [
        line
        for line in _products(source)
        if line not in scores and not re.search(r"w_?[qkvo]\b|proj", source.lines[line - 1], re.IGNORECASE)
    ]
    return rest[-1:]


def _triangles(source: Source) -> list[int]:
    return source.calls("tril|triu|tri") or _comparisons(source)


def _comparisons(source: Source) -> list[int]:
    """The lines on which two things are compared by size, neither of them a number."""
    sized = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    compared = [node for node in source.walk() if isinstance(node, ast.Compare) and isinstance(node.ops[0], sized)]
    return [node.lineno for node in compared if not any(_is_number(one) for one in (node.left, *node.comparators))]


_LINES: dict[str, Callable[[Source], list[int]]] = {
    "no-scale": _scores,
    "scale-by-dk": _scale_or_division,
    "scale-by-sqrt-dmodel": _scale_or_division,
    "scale-multiplied": _scale_or_division,
    "scale-after-softmax": _scale_or_division,
    "softmax-axis": _softmax,
    "softmax-axis top": _softmax_top,
    "wrong-triangle": _triangles,
    "causal-off-by-one": _triangles,
    "mask-after-softmax": _mask,
    "mask-finite": _mask,
    "mask-inverted": _mask,
    "padding-on-query": _mask,
    "zeros-masked": lambda source: [
        node.lineno
        for node in source.walk()
        if isinstance(node, ast.Compare)
        and any(isinstance(one, ast.Constant) and one.value == 0 for one in node.comparators)
        and not re.search("mask|dim", ast.unparse(node.left))
    ],
    "keys-as-values": _values,
    "q-k-swapped": _scores,
    "missing-transpose": _scores,
    "overflow": lambda source: source.calls("exp"),
    "weights-returned": _returns,
    "input-changed": _changed,
    "dropout-at-eval": lambda source: source.calls("dropout|bernoulli|binomial|rand|random|choice"),
    "heads-reshaped": lambda source: [
        line
        for line in source.calls("reshape|view")
        if not re.search("transpose|permute|swapaxes|moveaxis", source.lines[line - 1])
    ],
} | {
    f"one-projection {roles}": (lambda source, roles=roles: _roles(source, roles))
    for roles in ("qqv", "kkv", "vkv", "qvv", "qkk", "qkq", "qqq", "kkk", "vvv")
}


def _folded(source: Source) -> bool:
    """Whether the scale is put into q or k before the product."""
    who = re.compile(r"(x_?)?(q|query|queries|k|keys?)(_\w+)?(\.\w+\(.*\)|\.T|\.mT)?", re.IGNORECASE)
    return any(
        isinstance(node, ast.BinOp | ast.AugAssign)
        and isinstance(node.op, ast.Div | ast.Mult)
        and who.fullmatch(ast.unparse(node.left if isinstance(node, ast.BinOp) else node.target))
        for node in source.walk()
    )


_REMARKS: dict[str, Callable[[Source], bool]] = {
    "einsum": lambda source: bool(source.calls("einsum")),
    "exp-over-sum": lambda source: bool(source.calls("exp")) and bool(source.calls("max|amax|maximum|logsumexp")),
    "log-softmax": lambda source: bool(source.calls("log_softmax|logsumexp")),
    "folded": _folded,
    "fused": lambda source: bool(
        source.calls("scaled_dot_product_attention|MultiheadAttention|multi_head_attention_forward")
    ),
    "loops": lambda source: any(isinstance(node, ast.For | ast.While) for node in source.walk()),
    "additive": lambda source: any(
        isinstance(node, ast.BinOp | ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and re.search(r"mask|-1e|inf", ast.unparse(node))
        for node in source.walk()
    ),
}
