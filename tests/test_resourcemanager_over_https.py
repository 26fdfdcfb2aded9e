"""The REST client against a real ResourceManager that serves HTTPS alone, by the test's own CA."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from vas_cluster.hadoop import configuration_xml
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import run
from vas_lab.spec import find_java
from vas_tests.adversary.attack import run_vas
from vas_yarn.jars import find_hadoop
from vas_yarn.resourcemanager import ActiveResourceManager, ResourceManagerClient
from vas_yarn.rest import NotKnown

pytestmark = [pytest.mark.slow, pytest.mark.machine, pytest.mark.timeout(180)]

_UP_SECONDS = 90.0
_PASSWORD = "of-the-test"
_UNKNOWN = "application_1700000000000_0001"
_PORTS = ("address", "scheduler.address", "resource-tracker.address", "admin.address")
_DAEMON = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"


@dataclass(frozen=True)
class Manager:
    """A ResourceManager that is up: its URL, and the certificates of the CA that signed its own."""

    url: str
    ca: Path
    other_ca: Path


def _openssl(*words: str, cwd: Path) -> None:
    run(["openssl", *words], cwd=cwd)


def _make_ca(directory: Path, name: str) -> None:
    words = ["-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
    of_ca = ["-addext", "keyUsage=critical,keyCertSign", "-subj", f"/CN={name}", "-days", "2"]
    _openssl("req", "-x509", *words, *of_ca, cwd=directory)


def _make_certificates(directory: Path) -> None:
    """A CA, another one, and a server's certificate of the first, in a keystore for Java."""
    _make_ca(directory, "ca")
    _make_ca(directory, "other")
    request = ["-newkey", "rsa:2048", "-nodes", "-keyout", "rm.key", "-out", "rm.csr"]
    _openssl("req", *request, "-subj", "/CN=rm", cwd=directory)
    (directory / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
    names = ["-extfile", "names", "-out", "rm.pem"]
    _openssl("x509", "-req", "-in", "rm.csr", *signed, *names, cwd=directory)
    store = ["-in", "rm.pem", "-inkey", "rm.key", "-out", "rm.p12", "-passout", f"pass:{_PASSWORD}"]
    _openssl("pkcs12", "-export", *store, cwd=directory)


def _configure(directory: Path) -> None:
    """The kernel chooses its ports: one that was looked for before may be another's by then."""
    yarn = {
        "yarn.http.policy": "HTTPS_ONLY",
        "yarn.resourcemanager.hostname": "127.0.0.1",
        "yarn.resourcemanager.webapp.https.address": "127.0.0.1:0",
        **{f"yarn.resourcemanager.{name}": "127.0.0.1:0" for name in _PORTS},
    }
    ssl = {
        "ssl.server.keystore.location": str(directory / "rm.p12"),
        "ssl.server.keystore.type": "pkcs12",
        "ssl.server.keystore.password": _PASSWORD,
        "ssl.server.keystore.keypassword": _PASSWORD,
    }
    core = {"hadoop.tmp.dir": str(directory / "tmp")}
    queues = {
        "yarn.scheduler.capacity.root.queues": "default",
        "yarn.scheduler.capacity.root.default.capacity": "100",
    }
    files = {"core-site": core, "yarn-site": yarn, "ssl-server": ssl, "capacity-scheduler": queues}
    for name, properties in files.items():
        (directory / f"{name}.xml").write_text(configuration_xml(properties))


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manager]:
    directory = tmp_path_factory.mktemp("https")
    _make_certificates(directory)
    _configure(directory)
    jars = ":".join(str(jar) for jar in sorted(find_hadoop().glob("*.jar")))
    java = [find_java() / "bin/java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp"]
    log = directory / "rm.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*map(str, java), f"{directory}:{jars}", _DAEMON],
            cwd=directory,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "HADOOP_ROOT_LOGGER": "INFO,console"},
        ) as process,
    ):
        try:
            port = poll(lambda: _port(log, process), bool, _UP_SECONDS, "the port of its pages")
            url = f"https://127.0.0.1:{port}"
            found = Manager(url, directory / "ca.pem", directory / "other.pem")
            poll(lambda: _is_up(found, process), bool, _UP_SECONDS, "the ResourceManager")
            yield found
        except VasError as late:
            raise AssertionError(log.read_text(errors="replace")[-4000:]) from late
        finally:
            process.terminate()
            killer = threading.Timer(20, process.kill)
            killer.start()
            process.wait()
            killer.cancel()


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    """The port that the ResourceManager says it serves its pages at; 0 before."""
    assert process.poll() is None, "the ResourceManager has ended"
    said = re.search(r"Jetty bound to port (\d+)$", log.read_text(errors="replace"), re.MULTILINE)
    return int(said[1]) if said else 0


def _is_up(found: Manager, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the ResourceManager has ended"
    try:
        ActiveResourceManager.find([found.url], found.ca)
    except VasError as not_yet:
        assert "not trusted" not in str(not_yet)
        return False
    return True


def test_nodes_and_applications_are_read_over_https(manager: Manager) -> None:
    client = ResourceManagerClient.of(manager.url, ca=manager.ca)
    assert client.nodes() == {}
    with pytest.raises(NotKnown, match="answers 404"):
        client.state(_UNKNOWN)
    with pytest.raises(NotKnown, match="answers 404"):
        client.kill(_UNKNOWN)


def test_the_active_one_is_found_and_does_not_know_a_job(manager: Manager) -> None:
    active = ActiveResourceManager.find([manager.url], manager.ca)
    assert active.now_ms > 1_700_000_000_000
    assert active.life(_UNKNOWN) is None


def test_a_certificate_of_another_ca_is_refused(manager: Manager) -> None:
    for ca in (manager.other_ca, None):
        client = ResourceManagerClient.of(manager.url, ca=ca)
        with pytest.raises(VasError, match=r"not trusted: .*--ca or \$VAS_CA"):
            client.nodes()


def test_plain_http_is_not_served(manager: Manager) -> None:
    with pytest.raises(VasError):
        ResourceManagerClient.of(manager.url.replace("https:", "http:")).nodes()


@pytest.mark.parametrize("by_variable", [False, True])
def test_the_janitor_takes_the_ca(manager: Manager, tmp_path: Path, by_variable: bool) -> None:
    left = tmp_path / "staging/ann/.staging/job_1700000000000_0001/shuffle"
    left.mkdir(parents=True)
    words = ["shuffle", "gc", "--dry-run", "--json", "--staging", str(tmp_path / "staging")]
    words += ["--resourcemanager", manager.url]
    words += [] if by_variable else ["--ca", str(manager.ca)]
    env = {"VAS_CA": str(manager.ca)} if by_variable else {}
    ended = run_vas(words, tmp_path, env)
    assert ended.status == 0, ended
    assert '"verdict": "unknown"' in ended.out
