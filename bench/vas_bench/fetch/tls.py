"""Makes the keys and settings with which shuffles use TLS, in a directory of its own."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from vas_core.process import run

_ADDRESS = "127.0.0.1"
_CERTIFICATE, _KEY = "certificate.pem", "key.pem"


def make_tls(directory: Path, java_home: Path) -> None:
    """Writes key stores and Hadoop's three files into a new directory, for the class path.

    The same key and certificate are there as PEM, as vas-shuffled reads them.

    Raises CommandFailed when `keytool` or `openssl` fails.
    """
    directory.mkdir(mode=0o700)
    password = secrets.token_hex(16)
    # On a command line it would be in the list of processes, and in the message of an error.
    secret = directory / "password"
    secret.write_text(password + "\n")
    keys, trusted = directory / "keys.p12", directory / "trusted.p12"
    certificate = directory / _CERTIFICATE
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
    export = ("-exportcert", "-rfc", "-alias", "shuffle", "-keystore")
    run([*keytool, *export, keys, "-file", certificate])
    unlocked = ("-passin", f"file:{secret}", "-nocerts", "-nodes")
    run(["openssl", "pkcs12", "-in", keys, *unlocked, "-out", directory / _KEY])
    take: list[str | Path] = ["-importcert", "-noprompt", "-alias", "shuffle", "-file", certificate]
    run([*keytool, *take, "-keystore", trusted])
    server = _store("server.keystore", keys, password)
    server |= {"ssl.server.keystore.keypassword": password}
    _write(directory / "ssl-server.xml", server)
    _write(directory / "ssl-client.xml", _store("client.truststore", trusted, password))
    _write(directory / "mapred-site.xml", {"mapreduce.shuffle.ssl.enabled": "true"})


def daemon_options(directory: Path) -> list[str]:
    """Returns the options with which vas-shuffled uses what `make_tls` wrote."""
    certificate, key = str(directory / _CERTIFICATE), str(directory / _KEY)
    authorities = ("--tls-authorities", certificate)  # it signed itself
    return ["--tls-certificate", certificate, "--tls-key", key, *authorities]


def _store(name: str, file: Path, password: str) -> dict[str, str]:
    keys = {"location": str(file), "password": password, "type": "PKCS12"}
    return {f"ssl.{name}.{key}": value for key, value in keys.items()}


def _write(file: Path, properties: Mapping[str, str]) -> None:
    lines = (
        f"<property><name>{name}</name><value>{escape(value)}</value></property>"
        for name, value in properties.items()
    )
    file.write_text(f"<configuration>\n{chr(10).join(lines)}\n</configuration>\n")
