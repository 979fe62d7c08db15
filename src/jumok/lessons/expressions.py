"""Expressions of a lesson: a small part of Python that computes and can do nothing else.

>>> parsed("a*1 + 2*b").value({"a": 3, "b": -1})
1

Numbers, texts, lists, + - * / **, comparisons, and, or, not, "a if c else b", and calls of the functions that
are handed in. No attribute, no index, no builtin, nothing that grows without bound.
"""

from __future__ import annotations

import ast
import math
import operator
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ..errors import ExampleError, JumokError
from ..tokens import unknown_name
from ..yaml_nodes import brief, refused

__all__ = ["Expression", "Place", "parsed"]

MOST_LETTERS = 400
MOST_NODES = 150
MOST_DEPTH = 16
MOST_ITEMS = 64
MOST_EXPONENT = 64
MOST = 1e15  # beyond, a whole number and a decimal part ways

_ARITHMETIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_EQUAL: dict[type[ast.AST], Callable[[Any, Any], bool]] = {ast.Eq: operator.eq, ast.NotEq: operator.ne}
_ORDER: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SHAPE = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)  # told by the node that holds them


@dataclass(frozen=True)
class Place:
    """Where a text stands: the file, and the line and column of its first letter, from 1."""

    file: str = "expression"
    line: int = 1
    column: int = 1

    def refused(self, en: str, ko: str, after: int = 0) -> ExampleError:
        """The refusal of what stands ``after`` letters further."""
        return refused(self.file, en, ko, self.line, self.column + after)


@dataclass(frozen=True)
class Expression:
    """An expression that was found to be harmless; ``tree`` is what Python's parser made of its text."""

    text: str
    place: Place
    tree: ast.expr

    def value(
        self, variables: Mapping[str, Any] | None = None, functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> Any:
        """What it gives. Errors: ``ExampleError`` with line and column for a name that is not there or what does not fit."""
        return _Evaluation(self, variables or {}, functions or {}).of(self.tree)

    @property
    def shape(self) -> str:
        """The same for two expressions that differ in nothing but spaces."""
        return ast.dump(self.tree)

    @property
    def names(self) -> frozenset[str]:
        """Every variable and function in it."""
        return frozenset(node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name))

    def wrong(self, node: ast.AST, en: str, ko: str) -> NoReturn:
        """Refuse a piece of it, at its place."""
        at = getattr(node, "col_offset", 0)  # bytes of UTF-8
        raise self.place.refused(en, ko, len(self.text.encode("utf-8")[:at].decode("utf-8", "ignore")))


def parsed(text: str, place: Place | None = None) -> Expression:
    """The expression that a text holds.

    Errors: ``ExampleError`` with line and column for what is no expression, or holds what a lesson may not do.
    """
    place = place or Place()
    text = unicodedata.normalize("NFC", text)
    text, before = text.strip(), len(text) - len(text.lstrip())
    place = Place(place.file, place.line, place.column + before)
    if len(text) > MOST_LETTERS or "\n" in text or "\\" in text:
        raise place.refused(
            f"an expression is one line of at most {MOST_LETTERS} letters without \\",
            f"식은 \\ 없이 {MOST_LETTERS}자까지 한 줄로 씁니다",
        )
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        at = max(0, (getattr(error, "offset", 1) or 1) - 1)
        raise place.refused(
            f'{brief(text)!r} is no expression such as weight("it", "cat") > 0.5',
            f'{brief(text)!r}은(는) weight("it", "cat") > 0.5 같은 식이 아닙니다',
            min(at, len(text)),
        ) from None
    found = Expression(text, place, tree)
    _refuse_unsafe(found)
    return found


def _refuse_unsafe(found: Expression) -> None:
    waiting: list[tuple[ast.AST, int]] = [(found.tree, 1)]
    n_nodes = 0
    while waiting:
        node, depth = waiting.pop()
        n_nodes += 1
        if depth > MOST_DEPTH or n_nodes > MOST_NODES:
            found.wrong(
                node, "the expression is too long or too deep; split it", "식이 너무 길거나 깊습니다. 나누어 쓰십시오"
            )
        if not isinstance(node, _SHAPE):
            _refuse_piece(found, node)
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def _refuse_piece(found: Expression, node: ast.AST) -> None:
    """Refuse a node that is none of the few that compute."""
    operation = getattr(node, "op", None)
    fits: dict[type[ast.AST], Callable[[], bool]] = {
        ast.Constant: lambda: isinstance(node, ast.Constant) and type(node.value) in (int, float, str, bool),
        ast.BinOp: lambda: type(operation) in _ARITHMETIC,
        ast.UnaryOp: lambda: isinstance(operation, ast.USub | ast.UAdd | ast.Not),
        ast.BoolOp: lambda: True,
        ast.Compare: lambda: isinstance(node, ast.Compare) and all(type(op) in _EQUAL | _ORDER for op in node.ops),
        ast.IfExp: lambda: True,
        ast.Call: lambda: isinstance(node, ast.Call) and isinstance(node.func, ast.Name),
        ast.keyword: lambda: isinstance(node, ast.keyword) and node.arg is not None,
        ast.List: lambda: isinstance(node, ast.List) and len(node.elts) <= MOST_ITEMS,
        ast.Name: lambda: True,
    }
    if type(node) not in fits or not fits[type(node)]():
        found.wrong(
            node,
            "a lesson's expression holds numbers, texts, lists, + - * / **, comparisons, and/or/not and calls; not this",
            "레슨의 식에는 숫자, 글, 목록, + - * / **, 비교, and/or/not, 함수 호출만 쓸 수 있습니다",
        )


class _Evaluation:
    """One evaluation: the expression, and what its names mean."""

    def __init__(
        self, expression: Expression, variables: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        self.wrong = expression.wrong
        self.variables = variables
        self.functions = functions

    def of(self, node: ast.expr) -> Any:
        evaluate: Callable[[Any], Any] = getattr(self, f"_{type(node).__name__.lower()}")
        return evaluate(node)

    def _constant(self, node: ast.Constant) -> Any:
        return self._bounded(node, node.value)

    def _list(self, node: ast.List) -> list[Any]:
        return [self.of(item) for item in node.elts]

    def _name(self, node: ast.Name) -> Any:
        if node.id not in self.variables:
            self._unknown(node, [*self.variables, *self.functions])
        return self.variables[node.id]

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.of(node.body if self.of(node.test) else node.orelse)

    def _boolop(self, node: ast.BoolOp) -> bool:
        join = all if isinstance(node.op, ast.And) else any
        return join(bool(self.of(part)) for part in node.values)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.of(node.operand)
        if isinstance(node.op, ast.Not):
            return not value
        self._numbers(node, value)
        return -value if isinstance(node.op, ast.USub) else value

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.of(node.left), self.of(node.right)
        self._numbers(node, left, right)
        if isinstance(node.op, ast.Pow) and (abs(right) > MOST_EXPONENT or math.log10(abs(left) + 1) * right > 15):
            self.wrong(node, "the power is too large", "거듭제곱이 너무 큽니다")
        try:
            return self._bounded(node, _ARITHMETIC[type(node.op)](left, right))
        except (ZeroDivisionError, OverflowError):
            self.wrong(node, "this divides by 0 or grows too large", "0으로 나누거나 값이 너무 커집니다")

    def _compare(self, node: ast.Compare) -> bool:
        left = self.of(node.left)
        for op, item in zip(node.ops, node.comparators, strict=True):
            right = self.of(item)
            if type(op) in _ORDER:
                self._numbers(node, left, right)
            if not (_EQUAL | _ORDER)[type(op)](left, right):
                return False
            left = right
        return True

    def _call(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name not in self.functions:
            self._unknown(node.func, self.functions)
        given = [self.of(item) for item in node.args]
        named = {str(item.arg): self.of(item.value) for item in node.keywords}
        try:
            return self._bounded(node, _plain(self.functions[name](*given, **named)))
        except ExampleError:
            raise
        except JumokError as error:
            self.wrong(node, error.text("en").rstrip("."), error.text("ko").rstrip("."))
        except (TypeError, ValueError, ArithmeticError, LookupError):
            self.wrong(node, f"{name}(…) does not take these arguments", f"{name}(…)에 쓸 수 없는 값입니다")

    def _numbers(self, node: ast.AST, *values: Any) -> None:
        for value in values:
            if not isinstance(value, int | float):
                self.wrong(
                    node,
                    f"a number is needed here, got {brief(repr(value))}",
                    f"숫자가 필요한데 {brief(repr(value))}이(가) 왔습니다",
                )

    def _bounded(self, node: ast.AST, value: Any) -> Any:
        if isinstance(value, complex) or (isinstance(value, int | float) and not abs(value) <= MOST):
            self.wrong(node, "the number is too large, or none", "수가 너무 크거나 수가 아닙니다")
        return value

    def _unknown(self, node: ast.Name, known: Any) -> NoReturn:
        error = unknown_name("name", "이름", node.id, known)
        self.wrong(node, error.text("en").rstrip("."), error.text("ko").rstrip("."))


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value
