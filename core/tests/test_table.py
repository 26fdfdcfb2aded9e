"""Tables, in a pipe and on terminals of any width."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from vas_core.table import print_table, table_lines

WIDE = (
    ("NAME", "SIZE", "WHY"),
    [("git", 7, "getting the sources of all there is"), ("mvn", 12, "")],
)
CELLS = st.lists(st.tuples(*3 * [st.text("ab 日1/", max_size=60)]), max_size=5)


def test_no_line_of_a_table_ends_in_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("NAME", "SIZE", "WHY"), [("a", 7, "because"), ("日本", 12, "")])
    assert capsys.readouterr().out == ("NAME  SIZE  WHY\na        7  because\n日本    12\n")
    print_table(("NAME", "WHY"), [])
    assert capsys.readouterr().out == "NAME  WHY\n"


def test_table_shows_control_characters_instead_of_sending_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(("NAME", "SIZE"), [("a\x1b[31m\nb", 7), ("[bold]c", 12)])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["NAME          SIZE", "a\\x1b[31m\\nb     7", "[bold]c         12"]


def test_a_terminal_that_is_too_narrow_gets_the_widest_cells_folded() -> None:
    assert list(table_lines(*WIDE, width=30)) == [
        ("NAME  SIZE  WHY", True),
        ("git      7  getting the", False),
        ("            sources of all", False),
        ("            there is", False),
        ("mvn     12", False),
    ]
    assert list(table_lines(*WIDE, width=80)) == list(table_lines(*WIDE))


def test_a_column_of_a_narrow_table_cuts_no_word() -> None:
    rows = [("vm1", "16", "oss1.hpc.example"), ("vm2", "4", "oss2.hpc.example")]
    lines = list(table_lines(("ARM", "DATA-LOCAL", "FROM LOCAL OST"), rows, width=26))
    assert lines == [
        ("ARM DATA- FROM LOCAL OST", True),
        ("    LOCAL", True),
        ("vm1    16 oss1.hpc.example", False),
        ("vm2     4 oss2.hpc.example", False),
    ]


def test_a_few_long_rows_become_columns() -> None:
    titles = ("ARM", "CONTAINERS", "LOCALMAPS", "CHECKSUM")
    rows = [("real hosts", 21, 15, "147ab66fdb"), ("VAS", 12, 16, "147ab66fdb")]
    assert list(table_lines(titles, rows, width=34)) == [
        ("ARM         real hosts         VAS", True),
        ("CONTAINERS          21          12", False),
        ("LOCALMAPS           15          16", False),
        ("CHECKSUM    147ab66fdb  147ab66fdb", False),
    ]


def test_a_terminal_where_words_would_be_cut_gets_titles_with_values() -> None:
    titles = ("HOST", "ADDRESS", "OSTS", "GUEST")
    rows = [
        ("oss1.hpc.example", "192.0.2.1", "0,1", "vm1.hpc.example"),
        ("oss2.hpc.example", "192.0.2.2", "", "-"),
    ]
    assert list(table_lines(titles, rows, width=36)) == [
        ("oss1.hpc.example", True),
        ("  ADDRESS 192.0.2.1  OSTS 0,1", False),
        ("  GUEST vm1.hpc.example", False),
        ("oss2.hpc.example", True),
        ("  ADDRESS 192.0.2.2  GUEST -", False),
    ]


@given(CELLS, st.integers(20, 100))
def test_no_line_is_wider_than_the_terminal_and_no_letter_is_lost(
    rows: list[tuple[str, str, str]], width: int
) -> None:
    lines = [text for text, _ in table_lines(("A", "B", "C"), rows, width)]
    assert all(cell_len(line) <= width for line in lines)
    letters = sorted("".join(map("".join, rows)).replace(" ", ""))
    assert sorted(re.sub("[ ABC]", "", "".join(lines))) == letters


@pytest.mark.machine
def test_only_a_terminal_gets_folded_cells() -> None:
    program = "from vas_core.table import print_table; print_table(('A', 'B'), [('a ' * 40, 'b')])"
    argv = (sys.executable, "-c", program)
    read_end, terminal = pty.openpty()
    subprocess.run(argv, stdout=terminal, env=os.environ | {"COLUMNS": "40"}, check=True)
    on_terminal = os.read(read_end, 4096).decode().splitlines()
    piped = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    os.close(read_end)
    os.close(terminal)
    assert len(piped) == 2 and len(on_terminal) > 2
    assert "\x1b[1m" in on_terminal[0]
