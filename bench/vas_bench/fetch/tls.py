"""Makes the keys and settings with which Hadoop's shuffle uses TLS, in a directory of its own."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from vas_core.process import run

_ADDRESS = "127.0.0.1"


def make_tls(directory: Path, java_home: Path) -> None:
    """Writes key stores and Hadoop's three files into a new directory, for the class path.

    Raises CommandFailed when `keytool` fails.
    """
    directory.mkdir(mode=0o700)
    password = secrets.token_hex(16)
    # On a command line it would be in the list of processes, and in the message of an error.
    secret = directory / "password"
    secret.write_text(password + "\n")
    keys, trusted = directory / "keys.p12", directory / "trusted.p12"
    certificate = directory / "certificate.pem"
    keytool: list[str | Path] = [
        java_home / "bin/keytool",
        "-storepass:file",
        secret,
        "-storetype",
        "PKCS12",
    ]
    subject = ["-dname", f"CN={_ADDRESS}", "-ext", f"SAN=ip:{_ADDRESS}", "-validity", "2"]
    kind = ["-keyalg", "RSA", "-keysize", "2048"]
    run([*keytool, "-genkeypair", "-alias", "shuffle", "-keystore", keys, *kind, *subject])
    run([*keytool, "-exportcert", "-alias", "shuffle", "-keystore", keys, "-file", certificate])
    take: list[str | Path] = ["-importcert", "-noprompt", "-alias", "shuffle", "-file", certificate]
    run([*keytool, *take, "-keystore", trusted])
    server = _store("server.keystore", keys, password)
    server |= {"ssl.server.keystore.keypassword": password}
    _write(directory / "ssl-server.xml", server)
    _write(directory / "ssl-client.xml", _store("client.truststore", trusted, password))
    _write(directory / "mapred-site.xml", {"mapreduce.shuffle.ssl.enabled": "true"})


def _store(name: str, file: Path, password: str) -> dict[str, str]:
    keys = {"location": str(file), "password": password, "type": "PKCS12"}
    return {f"ssl.{name}.{key}": value for key, value in keys.items()}


def _write(file: Path, properties: Mapping[str, str]) -> None:
    lines = (
        f"<property><name>{name}</name><value>{escape(value)}</value></property>"
        for name, value in properties.items()
    )
    file.write_text(f"<configuration>\n{chr(10).join(lines)}\n</configuration>\n")
