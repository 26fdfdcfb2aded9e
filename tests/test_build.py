"""`./vas build` for real: Maven, in a copy of the tree, so that no lab's jars are touched."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_lab.spec import find_java

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(300)]

_SOURCES = ("vas", "pyproject.toml", "core/bootstrap", "core/vas_core/packages.tsv", "core/locks",
            "cluster", "lustre-layout/vectors", "yarn-plugins")  # fmt: skip
# The Python environment is not what is built here: this makes one whose `vas` says yes.
_PYTHON = """#!/bin/sh
case " $* " in *" -m venv "*) ;; *) exit 0 ;; esac
for last; do :; done
mkdir -p "$last/bin"
printf '#!/bin/sh\\n' | tee "$last/bin/python" >"$last/bin/vas"
chmod +x "$last/bin/python" "$last/bin/vas"
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    copy = tmp_path / "clone"
    for name in _SOURCES:
        source, target = REPOSITORY / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("target"))
        else:
            shutil.copy(source, target)
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin/python3.13"
    python.write_text(_PYTHON)
    python.chmod(0o755)
    return copy


def build(clone: Path) -> str:
    """Runs `./vas build` and returns what it says."""
    path = f"{clone.parent / 'bin'}:{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if not name.startswith("VAS_")}
    return run(["./vas", "build"], cwd=clone, env=env | {"PATH": path}).stderr


def test_the_jar_that_is_built_loads_and_has_no_class_without_a_source(clone: Path) -> None:
    classes = clone / "yarn-plugins/layout/target/classes"
    source = clone.parent / "Leftover.java"
    source.write_text("package org.vas.layout;\nfinal class Leftover {}\n")
    run([find_java() / "bin/javac", "-d", classes, source])
    assert (classes / "org/vas/layout/Leftover.class").exists()
    assert "building the plugins" in build(clone)
    assert build(clone) == ""
    (jar,) = (clone / "yarn-plugins/dist/target").glob("vas-yarn-plugins-*.jar")
    names = zipfile.ZipFile(jar).namelist()
    assert "org/vas/layout/PlainLayout.class" in names
    # What `vas submit` looks for before it names the class to YARN.
    assert "org/vas/app/VasAppMaster.class" in names
    assert "org/vas/layout/Leftover.class" not in names
    simulator = ["-cp", jar, "org.vas.scheduler.sim.PlacementSim", "--nodes", "4", "--splits", "8"]
    assert '"splits"' in run([find_java() / "bin/java", *simulator]).stdout
