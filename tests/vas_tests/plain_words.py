"""Finds sentences that do not stand alone: without a subject, or of a few words.

The rules are a place to look, not a substitute for reading aloud.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_tests.raising import KnownCode, classes_above, private_functions, unsaid

# A sentence that begins so has hidden its subject.
_HIDDEN_SUBJECT = re.compile(
    r"(@\w+|The same|All of|Those|Ends it|What|That|Of|One that|Whether|Such|There|It|Its"
    r"|Who|Whose|Which|Why|Where)\b"
)
_LEAST_WORDS = 4
# Ansible finds filters by this class name in each file.
_NAMED_BY_OTHERS = {"FilterModule"}

_JAVADOC = re.compile(
    r"/\*\*(?P<text>.*?)\*/\s*(?P<notes>(?:@\w+(?:\([^)]*\))?\s*)*)(?P<head>[^\n{;]*)", re.S
)
_JAVA_CLASS = re.compile(
    r"^( *)((?:public |static |abstract |final |sealed |non-sealed )*)"
    r"(?:class|interface|record|enum) (\w+)",
    re.M,
)
_RUST_TYPE = re.compile(
    r"^ *pub(?:\([^)\n]*\))? (?:unsafe )?(?:struct|enum|trait|union|type) (\w+)", re.M
)
# An item that only tests have: with a body in braces as the formatter indents it, or of one line.
_RUST_TEST_ITEM = re.compile(
    r"^( *)#\[cfg\(test\)\]\n(?:\1(?:#\[|//)[^\n]*\n)*(?:[^\n]*\{\n.*?^\1\}|[^\n]*)", re.M | re.S
)
_C_TYPE = re.compile(
    r"^(?:typedef\b[^;{(]*?(\w+)[;(]|(?:typedef )?(?:struct|enum|union) (\w+) \{)", re.M
)
# A block of comments for rustdoc, and what it is about.
_RUSTDOC = re.compile(r"((?:^[ ]*//[/!][^\n]*\n)+)(?:[ ]*#\[[^\n]*\n)*([^\n]*)", re.M)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def product_files(suffix: str) -> list[Path]:
    """Returns the files of the project's rooms with this suffix (".py"), without tests.

    The helpers of tests in `tests/vas_tests` are a room as well.
    """
    listed = run(
        ["git", "-C", str(REPOSITORY), "ls-files", "-co", "--exclude-standard", f"*{suffix}"]
    )
    paths = [REPOSITORY / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.exists() and not _is_test(path)]


def python_riddles(path: Path) -> list[str]:
    """Returns "line: name: what is wrong with its docstring" for each public definition."""
    tree = _tree(path)
    known = KnownCode(_above(), private_functions(tree))
    found = [f"1: module: {wrong}" for wrong in _wrong_with(ast.get_docstring(tree))]
    for node, name in _public(tree, ""):
        said = ast.get_docstring(node)
        wrongs = list(_wrong_with(said))
        if not isinstance(node, ast.ClassDef):
            errors = unsaid(node, said or "", known)
            wrongs += [f"raises {kind} without saying so" for kind in errors]
        found += [f"{node.lineno}: {name}: {wrong}" for wrong in wrongs]
    return found + [
        f"{text.lineno}: {wrong}: {text.value}"
        for keyword in ast.walk(tree)
        if isinstance(keyword, ast.keyword) and keyword.arg == "help"
        for text in [keyword.value]
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
        for wrong in _wrong_with_help(text.value)
    ]


def java_riddles(path: Path) -> list[str]:
    """Returns "line: head: what is wrong with its Javadoc" for what is not private."""
    source = path.read_text()
    found = []
    for match in _JAVADOC.finditer(source):
        if "private " in match["head"] or "@Override" in match["notes"]:
            continue
        said = re.sub(r"^\s*\*\s?", "", match["text"], flags=re.M).strip()
        line = source.count("\n", 0, match.start()) + 1
        found += [f"{line}: {match['head'].strip()}: {wrong}" for wrong in _wrong_with(said)]
    return found


def rust_riddles(path: Path) -> list[str]:
    """Returns "line: head: what is wrong with its comment" for what rustdoc would show."""
    source = path.read_text()
    found = []
    for match in _RUSTDOC.finditer(source):
        said = re.sub(r"^ *//[/!] ?", "", match[1], flags=re.M).strip()
        head = "module" if match[1].lstrip().startswith("//!") else match[2].strip()
        line = source.count("\n", 0, match.start()) + 1
        found += [f"{line}: {head}: {wrong}" for wrong in _wrong_with(said)]
    return found


def c_riddles(path: Path) -> list[str]:
    """Returns "line: what is wrong with the comment" for those before a definition or a file."""
    source = path.read_text()
    found = []
    for match in re.finditer(r"^/\*(.*?)\*/", source, re.M | re.S):
        said = re.sub(r"^ ?\* ?", "", match[1], flags=re.M).strip()
        if _HIDDEN_SUBJECT.match(said):
            line = source.count("\n", 0, match.start()) + 1
            found.append(f"{line}: hides its subject: {said.splitlines()[0]!r}")
    return found


def classes_named_twice(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Returns each name of a public class or type that stands in several of these files.

    Each name comes with its files, which are of Python, Java or Rust, or headers of C.
    """
    where: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        for name in _classes_of(path):
            where[name].append(path)
    return {n: w for n, w in where.items() if len(w) > 1 and n not in _NAMED_BY_OTHERS}


def _classes_of(path: Path) -> list[str]:
    if path.suffix == ".py":
        found = _public(_tree(path), "")
        return [node.name for node, _ in found if isinstance(node, ast.ClassDef)]
    if path.suffix == ".rs" and (path.stem.endswith("_tests") or "testing" in path.parts):
        return []
    read = {".java": java_classes, ".rs": rust_types, ".h": c_types}
    return read[path.suffix](path.read_text())


def java_classes(source: str) -> list[str]:
    """Returns the classes of a Java file that others may name: top-level ones, and public ones."""
    found = _JAVA_CLASS.findall(source)
    return [name for indent, notes, name in found if not indent or "public " in notes]


def rust_types(source: str) -> list[str]:
    """Returns the types and traits of a Rust file that other files may name, without tests'."""
    return _RUST_TYPE.findall(_RUST_TEST_ITEM.sub("", source))


def c_types(source: str) -> list[str]:
    """Returns the types that a header of C defines: by typedef, struct, enum or union."""
    return [named or tag for named, tag in _C_TYPE.findall(source)]


def _is_test(path: Path) -> bool:
    parts = path.relative_to(REPOSITORY).parts
    if parts[:2] == ("tests", "vas_tests") and path.suffix == ".py":
        return False
    return "tests" in parts or "test" in parts or path.name == "conftest.py"


@cache
def _above() -> Mapping[str, set[str]]:
    return classes_above(_tree(path) for path in product_files(".py"))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _wrong_with(said: str | None) -> Iterator[str]:
    """Private helpers need no docstring, and neither does a name that says it all."""
    if said is None:
        return
    if len(said.split()) < _LEAST_WORDS:
        yield f"fewer than {_LEAST_WORDS} words: {said!r}"
    elif _HIDDEN_SUBJECT.match(said):
        yield f"hides its subject: {said.splitlines()[0]!r}"


def _wrong_with_help(said: str) -> Iterator[str]:
    if said.startswith("Of "):
        yield "help begins with 'Of'"
    if len(said.split()) < 2 or said.startswith("Default"):
        yield "help does not say what the option is"


def _public(parent: ast.AST, prefix: str) -> Iterator[tuple[_Definition, str]]:
    for node in ast.iter_child_nodes(parent):
        if not isinstance(node, _Definition):
            yield from _public(node, prefix)
        elif not node.name.startswith("_"):
            yield node, prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from _public(node, f"{prefix}{node.name}.")


def riddles(paths: Iterable[Path]) -> list[str]:
    """Returns the riddles of Python, Java, Rust and C files, each with its file in front."""
    read = {
        ".py": python_riddles,
        ".java": java_riddles,
        ".rs": rust_riddles,
        ".c": c_riddles,
        ".h": c_riddles,
    }
    return [
        f"{path.relative_to(REPOSITORY)}:{riddle}"
        for path in paths
        for riddle in read[path.suffix](path)
    ]
