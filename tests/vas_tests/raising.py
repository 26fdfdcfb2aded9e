"""Compares what a function raises by `raise X` with what its docstring says that it raises."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

# A docstring need not name these: they tell the caller of a mistake in the code, not in the input.
_NOT_REPORTED = {"NotImplementedError", "AssertionError", "StopIteration"}
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Inner = _Definition | ast.Lambda
# Finds the sentence that names the errors; "raises the limit" does not begin one.
_RAISES = re.compile(r"\bRaises\b|\braises (?=`?[A-Z])|\bfor which it raises\b")
# The text refers to another function, or passes on what somebody else raised.
_REFERS = re.compile(r"\bRaises?,? (?:as|what|the (?:first )?(?:error|failure))\b", re.I)


@dataclass(frozen=True)
class KnownCode:
    """The code around a function: `above` is class -> all classes that it is derived from.

    `helpers` are the private functions of its file by name: what one of them raises, a function
    raises that calls it.
    """

    above: Mapping[str, set[str]]
    helpers: Mapping[str, ast.AST]


def private_functions(tree: ast.Module) -> dict[str, ast.AST]:
    """Returns the private functions and methods of a file by name."""
    found = (node for node in _definitions(tree) if not isinstance(node, ast.ClassDef))
    return {node.name: node for node in found if node.name.startswith("_")}


def unsaid(function: ast.AST, said: str, known: KnownCode) -> list[str]:
    """Returns the names of errors that a function raises and that its docstring does not name.

    It is enough to name a class that the error is derived from. An error that the function catches
    itself does not count, and neither do its inner functions. Of an error that another function
    makes (`raise unavailable(...)`), nothing but its being an error is known: then the docstring
    has to name any.
    """
    begin = _RAISES.search(said)
    told = said[begin.start() :] if begin else ""
    if _REFERS.search(told):
        return []
    named = set(re.findall(r"\b[A-Z]\w+", told.removeprefix("Raises")))
    kinds = {*_raised_in(ast.iter_child_nodes(function), frozenset(), known)} - _NOT_REPORTED
    return sorted(kind for kind in kinds if not _is_named(kind, named, known.above))


def classes_above(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """Returns class -> all classes that it is derived from, those of Python among them."""
    bases: dict[str, set[str]] = {}
    for tree in trees:
        for node in _definitions(tree):
            if isinstance(node, ast.ClassDef):
                names = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                bases.setdefault(node.name, set()).update(names)
    return {name: _all_above(name, bases) for name in bases}


def _definitions(parent: ast.Module | ast.ClassDef) -> Iterator[_Definition]:
    """Yields the functions and classes of a file, and those of its classes."""
    for node in parent.body:
        if isinstance(node, _Definition):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node)


def _all_above(name: str, bases: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for base in bases.get(waiting.pop(), set()) - found:
            found |= {base} | _pythons_above(base)
            waiting.append(base)
    return found


def _pythons_above(name: str) -> set[str]:
    kind = getattr(builtins, name, None)
    return {each.__name__ for each in kind.__mro__} if isinstance(kind, type) else set()


def _is_named(kind: str, named: set[str], above: Mapping[str, set[str]]) -> bool:
    if not kind.lstrip("_")[:1].isupper():
        return bool(named)
    return bool(named & ({kind} | above.get(kind, set()) | _pythons_above(kind)))


def _raised(node: ast.AST, caught: frozenset[str], known: KnownCode) -> Iterator[str]:
    """Yields the names behind `raise`, but for those that the function itself catches."""
    if isinstance(node, _Inner):
        return
    if isinstance(node, ast.Try):
        handled = frozenset(name for each in node.handlers for name in _names(each.type))
        yield from _raised_in(node.body, caught | handled, known)
        yield from _raised_in((*node.handlers, *node.orelse, *node.finalbody), caught, known)
        return
    if isinstance(node, ast.Raise) and node.exc is not None:
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        kind = ast.unparse(error).rpartition(".")[2]
        if not _is_named(kind, set(caught), known.above):
            yield kind
    if (
        known.helpers
        and isinstance(node, ast.Call)
        and (helper := known.helpers.get(_called(node)))
    ):
        yield from _raised_in(ast.iter_child_nodes(helper), caught, KnownCode(known.above, {}))
    yield from _raised_in(ast.iter_child_nodes(node), caught, known)


def _raised_in(nodes: Iterable[ast.AST], caught: frozenset[str], known: KnownCode) -> Iterator[str]:
    for node in nodes:
        yield from _raised(node, caught, known)


def _called(call: ast.Call) -> str:
    """Returns the name of a function of the file, or of the object's own method; else empty."""
    function = ast.unparse(call.func)
    return function.removeprefix("self.").removeprefix("cls.")


def _names(caught: ast.expr | None) -> list[str]:
    """Returns the names of the errors that an `except` clause catches."""
    if caught is None:
        return ["BaseException"]
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return [ast.unparse(kind).rpartition(".")[2] for kind in kinds]
