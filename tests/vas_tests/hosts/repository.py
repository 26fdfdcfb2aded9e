"""An apt repository of packages with nothing in them, signed by a key of its own.

It tests what apt does with a repository, not Lustre's packages.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from vas_core.process import run

_CONTROL = """Package: {name}
Version: {version}
Architecture: all
Maintainer: the tests of VAS <root@localhost>
Description: nothing, under a name that Lustre's package has
"""


def make_repository(directory: Path, packages: Mapping[str, str]) -> Path:
    """Makes a flat repository of packages (name -> version) in a new directory.

    Returns the file of the armoured key that signed it. Raises CommandFailed if dpkg-deb or gpg
    fails.
    """
    directory.mkdir()
    index = "\n".join(_package(directory, *package) for package in packages.items())
    (directory / "Packages").write_text(index)
    digest = hashlib.sha256(index.encode()).hexdigest()
    release = "Date: Mon, 23 Nov 2026 00:00:00 UTC\nSuite: lab\nSHA256:\n"
    (directory / "Release").write_text(f"{release} {digest} {len(index.encode())} Packages\n")
    return _sign(directory)


def _package(directory: Path, name: str, version: str) -> str:
    """Builds a package, and says of it what the index does."""
    with TemporaryDirectory(prefix="vas-deb-") as work:
        control = _CONTROL.format(name=name, version=version)
        (Path(work) / "DEBIAN").mkdir(mode=0o755)
        (Path(work) / "DEBIAN" / "control").write_text(control)
        file = directory / f"{name}_{version}_all.deb"
        run(["dpkg-deb", "--root-owner-group", "--build", work, file])
    data = file.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return f"{control}Filename: ./{file.name}\nSize: {len(data)}\nSHA256: {digest}\n"


def _sign(directory: Path) -> Path:
    key = directory.with_suffix(".asc")
    # Not below a test's directory: an agent's socket has a short path.
    with TemporaryDirectory(prefix="vas-gpg-", dir="/tmp") as home:
        environment = {**os.environ, "GNUPGHOME": home}

        def gpg(*words: str | Path) -> str:
            argv = ["gpg", "--batch", "--yes", "--passphrase", "", *words]
            return run(argv, env=environment).stdout

        try:
            gpg("--quick-generate-key", "the tests of VAS", "ed25519", "sign", "never")
            gpg("--output", directory / "InRelease", "--clearsign", directory / "Release")
            key.write_text(gpg("--armor", "--export"))
        finally:
            run(["gpgconf", "--kill", "all"], env=environment, check=False)
    return key
