"""`vas job lint`: what is found in the classes of a jar, and jars that are none."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_yarn.cds.class_path import java_home
from vas_yarn.lint.class_file import ClassFile, NotAClass
from vas_yarn.lint.job_code import (
    EXIT,
    HOOK,
    KEPT,
    ONCE,
    SETTING,
    STARTED,
    STATIC,
    Trap,
    read_jar,
)

pytestmark = pytest.mark.machine

SOURCE = """
package org.example;
import java.util.*;
import java.util.concurrent.*;
public class Task {
  static final Map<String, String> CONSTANT = new HashMap<>();
  static int rows = 1;
  static String other;
  int field;
  enum Word { ONE, TWO }
  void good(long wide, Word word, int number) {
    field = 3;
    assert rows > 0;
    for (int i = 0; i < 1000; i++) { number += 70000 * i; }
    switch (word) { case ONE: field = 1; break; default: field = (int) wide; }
    switch (number) { case 1: case 2: case 3: field = 9; break; case 900: field = 4; break; }
    switch (number) { case 1: field = 9; break; case 70000: field = 4; break; }
    double[][] many = new double[3][4];
    Runnable named = () -> System.out.println(field + many.length);
  }
  void exits() { System.exit(1); }
  void halts() { Runtime.getRuntime().halt(1); }
  void counts() { int a = rows; rows = a + 1; }
  void counts_elsewhere() { Other.total += 2L; }
  void starts() { new Work().start(); }
  void pools() { Executors.newFixedThreadPool(2).shutdown(); }
  void keeps() { new ThreadLocal<String>().set("a"); }
  void once() { java.net.URL.setURLStreamHandlerFactory(null); }
  void sets() { System.setProperty("a", "b"); Locale.setDefault(Locale.ROOT); }
  void hooks() { Runtime.getRuntime().addShutdownHook(new Thread()); }
  void lambda() { Runnable later = () -> { other = "x"; }; later.run(); }
  void handle() { java.util.function.IntConsumer end = System::exit; end.accept(1); }
  void mine() { new Motor().start(); }
  public static void main(String[] words) { rows = 7; System.exit(0); }
  public int run(String[] words) { System.exit(3); return 0; }
}
class Other { static long total; }
class Work extends Zebra { }
class Zebra extends Thread { }
class Motor { void start() { } }
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A jar of classes that javac made."""
    directory = tmp_path_factory.mktemp("job")
    (directory / "Task.java").write_text(SOURCE)
    javac = [java_home() / "bin/javac", "-g", "-d", directory / "classes", directory / "Task.java"]
    subprocess.run(javac, check=True)
    with zipfile.ZipFile(directory / "my.jar", "w") as archive:
        for file in sorted((directory / "classes").rglob("*.class")):
            archive.write(file, file.relative_to(directory / "classes"))
        archive.writestr("lib/inner.jar", b"not read")
    return directory / "my.jar"


def test_each_trap_is_found_and_nothing_else(jar: Path) -> None:
    found = read_jar(jar)
    places: list[tuple[str, str, Trap]] = [
        ("", "java.lang.System.exit", EXIT),
        ("counts", "org.example.Task.rows", STATIC),
        ("counts_elsewhere", "org.example.Other.total", STATIC),
        ("exits", "java.lang.System.exit", EXIT),
        ("halts", "java.lang.Runtime.halt", EXIT),
        ("hooks", "java.lang.Runtime.addShutdownHook", HOOK),
        ("keeps", "java.lang.ThreadLocal.set", KEPT),
        ("lambda$lambda$1", "org.example.Task.other", STATIC),
        ("once", "java.net.URL.setURLStreamHandlerFactory", ONCE),
        ("pools", "java.util.concurrent.Executors.newFixedThreadPool", STARTED),
        ("sets", "java.lang.System.setProperty", SETTING),
        ("sets", "java.util.Locale.setDefault", SETTING),
        ("starts", "org.example.Work.start", STARTED),
    ]
    assert [(each.method, each.what, each.trap) for each in found.findings] == places
    assert {each.class_name for each in found.findings} == {"org.example.Task"}
    assert found.inner_jars == 1


def test_the_command_tells_place_reason_and_fix(
    jar: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["job", "lint", str(jar)]) == 3
    printed = capsys.readouterr()
    assert printed.out.startswith(
        "org.example.Task: java.lang.System.exit\n"
        "    ends the JVM, and the attempt fails\n"
        "    fix: throw an exception, or return\n"
    )
    assert printed.err == "1 jar in its lib/ not read; give each by itself\n"
    assert run_command(["job", "lint", "--json", str(jar)]) == 3
    assert json.loads(capsys.readouterr().out)[1] == {
        "class": "org.example.Task",
        "method": "counts",
        "what": "org.example.Task.rows",
        "why": STATIC.why,
        "fix": STATIC.fix,
    }


def test_a_package_alone_is_read(jar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(read_jar(jar, ("org.example",)).findings) == 13
    assert read_jar(jar, ("org.exam",)).findings == ()
    assert run_command(["job", "lint", "--json", "--package", "net", str(jar)]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert run_command(["job", "lint", "--package", "net", str(jar)]) == 0
    assert capsys.readouterr().out == "nothing found; classes read: 0\n"


def task_class(jar: Path) -> bytes:
    with zipfile.ZipFile(jar) as archive:
        return archive.read("org/example/Task.class")


@pytest.mark.unhurried
def test_a_class_that_is_cut_off_or_damaged_is_refused_or_read(jar: Path) -> None:
    data = task_class(jar)
    for length in range(len(data) - 1):
        try:
            list(ClassFile(data[:length]).uses())
        except NotAClass:
            continue
    dice = random.Random(7)
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(dice.randrange(1, 4)):
            damaged[dice.randrange(len(data))] = dice.randrange(256)
        try:
            list(ClassFile(bytes(damaged)).uses())
        except NotAClass:
            continue


def test_methods_share_no_code(jar: Path) -> None:
    data = bytearray(task_class(jar))
    # exits(): iconst_1, invokestatic, return. Its length stands before.
    at = data.index(b"\x04\xb8", data.index(b"exits")) - 4
    assert int.from_bytes(data[at : at + 4], "big") == 5
    data[at : at + 4] = (1000).to_bytes(4, "big")
    with pytest.raises(NotAClass, match="is cut off or damaged"):
        ClassFile(bytes(data))


def test_a_member_that_is_no_class_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jar"
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("a/B.class", b"PK")
    with pytest.raises(BadInput, match=r"bad\.jar: a/B\.class does not begin as a class file"):
        read_jar(bad)


def test_classes_that_extend_one_another_in_a_circle_are_no_threads(jar: Path) -> None:
    circle = jar.parent / "circle.jar"
    with zipfile.ZipFile(jar) as whole, zipfile.ZipFile(circle, "w") as archive:
        for name in ("Task", "Work", "Zebra"):
            data = whole.read(f"org/example/{name}.class")
            if name == "Zebra":
                data = data.replace(b"java/lang/Thread", b"org/example/Work")
            archive.writestr(f"{name}.class", data)
    assert "starts" not in {each.method for each in read_jar(circle).findings}


@pytest.mark.parametrize("bytes_of_list", [17 << 20, 0xFFFFFFFF])
def test_a_list_of_members_beyond_the_limit_is_not_read(tmp_path: Path, bytes_of_list: int) -> None:
    huge = tmp_path / "huge.jar"
    huge.write_bytes(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, bytes_of_list, 0, 0))
    with pytest.raises(BadInput, match="the list of its members has more than 16 MiB"):
        read_jar(huge)


def end_of_many(record: bytes, comment: bytes = b"") -> bytes:
    """The end of a zip of more than 65,535 members: a record, where it is, and the plain record."""
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    plain = (0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
    return (
        record
        + locator
        + struct.pack("<4s2H2H2LH", b"PK\5\6", 0, 0, *plain, len(comment))
        + comment
    )


@pytest.mark.parametrize("comment", [b"", bytes(65_535)])
def test_a_list_of_many_members_beyond_the_limit_is_not_read(
    tmp_path: Path, comment: bytes
) -> None:
    many = tmp_path / "many.jar"
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 70_000, 70_000, 17 << 20, 0)
    many.write_bytes(end_of_many(record, comment))
    with pytest.raises(BadInput, match="the list of its members has more than 16 MiB"):
        read_jar(many)


@pytest.mark.parametrize("record", [b"", bytes(56)])
def test_many_members_without_their_record_are_refused(tmp_path: Path, record: bytes) -> None:
    many = tmp_path / "many.jar"
    many.write_bytes(end_of_many(record))
    with pytest.raises(BadInput, match="the end of its list of members is damaged"):
        read_jar(many)


@pytest.mark.unhurried
def test_more_members_than_a_plain_zip_has_are_read(tmp_path: Path) -> None:
    many = tmp_path / "many.jar"
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(65_536):
            archive.writestr(str(number), b"")
    assert read_jar(many).classes == 0


def test_a_class_that_is_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.jar"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/B.class", bytes(5 << 20))
    with pytest.raises(BadInput, match=r"its a/B\.class has more than 4 MiB"):
        read_jar(bomb)


def test_many_large_classes_are_not_read(jar: Path, tmp_path: Path) -> None:
    data = task_class(jar)
    large = data + bytes((4 << 20) - len(data))
    big = tmp_path / "big.jar"
    with zipfile.ZipFile(big, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(9):
            archive.writestr(f"a/B{number}.class", large)
    with pytest.raises(BadInput, match="its classes have more than 32 MiB"):
        read_jar(big)
