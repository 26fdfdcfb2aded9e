"""Finds the web addresses and the staging directory of a site's YARN, by configuration and map."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from vas_cluster import Cluster
from vas_yarn.site_files import JobConfiguration

# yarn-default.xml and mapred-default.xml.
_MANAGER_PORTS = {"http": 8088, "https": 8090}
_HISTORY_PORTS = {"http": 19888, "https": 19890}
_STAGING = "/tmp/hadoop-yarn/staging"  # noqa: S108 (Hadoop's default, below the mount)
JOBID = "VAS_JOBID"
"""The variable of a container's environment that names its application to Lustre's servers."""
_EVERYWHERE = ("", "0.0.0.0", "[::]")  # noqa: S104 (compared)


def manager_address(conf: JobConfiguration, cluster: Cluster) -> tuple[str, int]:
    """Returns host and port of the ResourceManager's web interface over HTTP."""
    host = conf.get("yarn.resourcemanager.hostname") or cluster.resourcemanager_address
    address = conf.get("yarn.resourcemanager.webapp.address")
    return host_and_port(address, host, _MANAGER_PORTS["http"])


def manager_urls(conf: JobConfiguration, cluster: Cluster) -> tuple[str, ...]:
    """Returns the URL of each ResourceManager's web interface: several with high availability."""
    scheme, prefix = _scheme(conf, "yarn.http.policy"), "yarn.resourcemanager"
    key = f"{prefix}.webapp.address" if scheme == "http" else f"{prefix}.webapp.https.address"
    ids = [word.strip() for word in conf.get(f"{prefix}.ha.rm-ids").split(",") if word.strip()]
    found = []
    for suffix in [f".{word}" for word in ids] or [""]:
        host = conf.get(f"{prefix}.hostname{suffix}") or cluster.yarn.resourcemanager.name
        name, port = host_and_port(conf.get(f"{key}{suffix}"), host, _MANAGER_PORTS[scheme])
        found.append(f"{scheme}://{name}:{port}")
    return tuple(found)


def history_url(conf: JobConfiguration, cluster: Cluster) -> str:
    """Returns the URL of the JobHistoryServer."""
    scheme, prefix = _scheme(conf, "mapreduce.jobhistory.http.policy"), "mapreduce.jobhistory"
    key = f"{prefix}.webapp.address" if scheme == "http" else f"{prefix}.webapp.https.address"
    host = cluster.yarn.resourcemanager.name
    name, port = host_and_port(conf.get(key), host, _HISTORY_PORTS[scheme])
    return f"{scheme}://{name}:{port}"


def staging_directory(conf: JobConfiguration, cluster: Cluster) -> Path:
    """Returns the jobs' staging directory as this machine sees it, below the mount."""
    named = conf.get("yarn.app.mapreduce.am.staging-dir", _STAGING)
    url = urlsplit(named)
    if (url.scheme or urlsplit(conf.get("fs.defaultFS", "lustre:///")).scheme) == "file":
        return Path(url.path)
    return Path(cluster.lustre.mount) / url.path.lstrip("/")


def host_and_port(address: str, host: str, port: int) -> tuple[str, int]:
    """Splits HOST:PORT. `host` and `port` stand in for an address without a port, and `host` for
    one of all interfaces (0.0.0.0)."""
    named, colon, number = address.rpartition(":")
    if not colon or not number.isdigit():
        return host, port
    # What it listens on says nothing of where it is.
    return host if named in _EVERYWHERE else named, int(number)


def _scheme(conf: JobConfiguration, policy: str) -> str:
    return "https" if conf.get(policy).upper() == "HTTPS_ONLY" else "http"
