"""Finds the program that `hadoop jar JAR WORDS...` starts, and where generic options go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_yarn.job_jar import BROKEN_JAR, open_jar, read_member

_MANIFEST = "META-INF/MANIFEST.MF"
# A class of this name in a class file's constants: its first argument is a program's name.
_DRIVER = b"org/apache/hadoop/util/ProgramDriver"


@dataclass(frozen=True)
class JarEntry:
    """The class that `hadoop jar` starts, and the job's words before and after its options."""

    main: str
    is_of_manifest: bool
    leading: tuple[str, ...]
    """The class, if the manifest names none; the program, if that class is a driver of several."""
    words: tuple[str, ...]
    """The words behind: the program's own arguments, and the generic options they begin with."""


def find_entry(jar: Path, words: Sequence[str]) -> JarEntry:
    """Returns the program that RunJar starts: Main-Class of the jar's manifest, else the first
    word.

    Raises BadInput if the jar cannot be read, if there is neither Main-Class nor word, or no word
    for a driver of several programs.
    """
    try:
        with open_jar(jar) as archive:
            named = main_class(read_member(archive, _MANIFEST, jar).decode("utf-8", "replace"))
            if named is None and not words:
                hint = "give one behind the jar: `vas submit JAR CLASS ...`"
                raise BadInput("its manifest names no Main-Class", where=str(jar), hint=hint)
            main = named or words[0].replace("/", ".")
            before = 0 if named else 1
            is_driver = _DRIVER in read_member(archive, f"{main.replace('.', '/')}.class", jar)
    except BROKEN_JAR as wrong:
        what = f"cannot be read as a jar: {str(wrong) or 'too little memory'}"
        raise BadInput(what, where=str(jar), hint="name a jar of this machine") from wrong
    if is_driver:
        if len(words) == before:
            hint = f"name one behind the jar; `hadoop jar {jar}` lists them"
            raise BadInput(
                "starts one of several programs, and none is named", where=str(jar), hint=hint
            )
        before += 0 if words[before].startswith("-") else 1
    return JarEntry(main, named is not None, tuple(words[:before]), tuple(words[before:]))


def main_class(manifest: str) -> str | None:
    """Returns the Main-Class of a manifest's main section; None without one.

    A line that begins with a space continues the one before (JAR file specification).
    """
    text = re.sub(r"\r\n?", "\n", manifest)
    main_section = text.split("\n\n", 1)[0].replace("\n ", "")
    found = re.search(r"^Main-Class:[ \t]*(\S+)[ \t]*$", main_section, re.MULTILINE | re.IGNORECASE)
    return found[1].replace("/", ".") if found else None
