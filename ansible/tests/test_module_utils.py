"""How modules call `vas`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from modules import load

vas = load("module_utils/vas.py")


@pytest.mark.parametrize("check_mode", [True, False])
def test_check_mode_judges_by_what_is_planned(tmp_path: Path, check_mode: bool) -> None:
    """A real run has written the file by then; check mode never does."""
    params = {"cluster": "/etc/vas/cluster.yaml", "planned": {"cluster": "site: new\n"}}
    module = SimpleNamespace(check_mode=check_mode, tmpdir=str(tmp_path), params=params)
    vas.take_planned(module)
    file = Path(str(params["cluster"]))
    if check_mode:
        assert file.read_text() == "site: new\n"
    else:
        assert file == Path("/etc/vas/cluster.yaml")


@pytest.mark.usefixtures("strict_umask")
def test_directories_are_for_all_to_read(tmp_path: Path) -> None:
    vas.make_directories(tmp_path / "lib/vas")
    made = (tmp_path / "lib", tmp_path / "lib/vas")
    assert [path.stat().st_mode & 0o777 for path in made] == [0o755, 0o755]
    made[1].chmod(0o700)
    vas.make_directories(made[1])
    assert made[1].stat().st_mode & 0o777 == 0o700
