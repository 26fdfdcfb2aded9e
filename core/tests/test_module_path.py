"""Programs that are started as `python -m MODULE` load no module of the directory they start in."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
# `-m` and a module, behind the interpreter of this environment or the script's.
_STARTS = re.compile(r'sys\.executable,\s*"-m"|python"? -m (?:pip|venv)')


def test_no_program_of_ours_puts_the_current_directory_before_its_libraries() -> None:
    """Root may stand in a directory where a user has put a `json.py`."""
    found = REPOSITORY.glob("*/vas_*/**/*.py")
    files = [REPOSITORY / "vas", *(file for file in found if "tests" not in file.parts)]
    assert len(files) > 100
    assert [file for file in files if _STARTS.search(file.read_text())] == []


@pytest.mark.machine
@pytest.mark.parametrize(("options", "is_loaded"), [([], True), (["-P"], False)])
def test_a_planted_module_is_loaded_only_without_the_option(
    options: list[str], is_loaded: bool, tmp_path: Path
) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('planted')")
    argv = [sys.executable, *options, "-m", "vas_core", "--version"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ("planted" in done.stderr) == is_loaded
    assert done.stdout.startswith("vas") != is_loaded
