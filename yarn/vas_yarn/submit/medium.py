"""Chooses the medium of a job's map output by what the site has. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from vas_core.errors import BadInput
from vas_yarn.lint.rules import (
    COLLECTOR_KEY,
    LOCAL_COLLECTOR,
    MERGE_KEY,
    STOCK_COLLECTOR,
    SWITCH_KEY,
    TLS_KEY,
    is_off,
    lacks_tls,
)
from vas_yarn.profiles import NODE_SHUFFLE, SHUFFLE, STOCK_SHUFFLE, is_file_name
from vas_yarn.site_files import JobConfiguration, as_mapping

Medium = Literal["lustre", "node", "stock"]
MEDIA: tuple[Medium, ...] = get_args(Medium)
_TLS_HINT = "set vas.shuffled.tls.* on all nodes, or say --shuffle lustre or stock"
SERVICE_KEY = "yarn.nodemanager.aux-services.mapreduce_shuffle.class"
SERVICE = "org.vas.shuffle.node.DaemonShuffleHandler"
_STAGING_KEY = "yarn.app.mapreduce.am.staging-dir"
_LOCAL_STAGING_KEY = "vas.shuffle.local-staging"
_PROPERTIES = {"lustre": SHUFFLE, "node": NODE_SHUFFLE, "stock": STOCK_SHUFFLE}


@dataclass(frozen=True)
class MediumChoice:
    """The medium of map output and the reason; None leaves the job's properties as they are."""

    medium: Medium | None
    why: str

    def switches(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Returns the properties that select the medium; `properties` are the job's others."""
        if self.medium is None:
            return {}
        found = dict(_PROPERTIES[self.medium])
        if self.medium != "stock" and is_off(as_mapping(properties)):
            found[SWITCH_KEY] = "true"
        return found


def as_asked(
    medium: Medium, profile: str, site: Mapping[str, str], user: Mapping[str, str]
) -> MediumChoice:
    """Returns the medium that the user named; `user` holds the properties of `-D` and `--conf`.

    Raises BadInput if one of those properties selects another medium, if the profile is `off` and
    the medium is not stock's, and for `node` if the site demands TLS and its daemons have none.
    """
    if key := _other_medium(medium, user):
        what = f"{key}={user[key]} is of another medium: maps would write where no reducer reads"
        raise BadInput(what, where=f"--shuffle {medium}", hint="leave out one of the two")
    if profile == "off" and medium != "stock":
        what = "profile off is stock's shuffle"
        raise BadInput(what, where=f"--shuffle {medium}", hint="leave out --profile off")
    if medium == "node" and lacks_tls(as_mapping(site)):
        what = f"{TLS_KEY} is true, and vas-shuffled has no TLS"
        raise BadInput(what, where="--shuffle node", hint=_TLS_HINT)
    return MediumChoice(medium, "as asked")


def _other_medium(medium: Medium, user: Mapping[str, str]) -> str | None:
    """The key by which the user's properties select another medium than this one."""
    if SWITCH_KEY in user and is_off(as_mapping(user)) != (medium == "stock"):
        return SWITCH_KEY
    # A class of the user's own reads what it reads.
    others = {each[MERGE_KEY] for each in _PROPERTIES.values()} - {_PROPERTIES[medium][MERGE_KEY]}
    if user.get(MERGE_KEY, "").strip() in others:
        return MERGE_KEY
    collector = user.get(COLLECTOR_KEY, "")
    if medium != "lustre" and SHUFFLE[COLLECTOR_KEY] in collector:
        return COLLECTOR_KEY
    is_stocks = collector.strip() in (STOCK_COLLECTOR, LOCAL_COLLECTOR)
    return COLLECTOR_KEY if medium == "lustre" and is_stocks else None


def choose_medium(
    profile: str, site: Mapping[str, str], user: Mapping[str, str], mount: str | None
) -> MediumChoice:
    """Chooses the medium of map output by the user's properties, the profile and the site.

    `site` holds the properties of the site's files, `user` those of `-D` and `--conf`; `mount` is
    Lustre's in the map of the site, None without a map.
    """
    for key in (COLLECTOR_KEY, MERGE_KEY, SWITCH_KEY):
        if key in user:
            return MediumChoice(None, f"as {key} says")
    if profile == "off" or is_file_name(profile):
        return MediumChoice(None, f"as profile {profile} says")
    conf = as_mapping({**site, **user})
    if is_off(conf):
        return MediumChoice(None, f"the site's {SWITCH_KEY} is false: stock's")
    if not site and mount is None:
        return MediumChoice(None, "nothing is known of the site: as the profile says")
    return _of_site(conf, mount)


def _of_site(conf: JobConfiguration, mount: str | None) -> MediumChoice:
    scheme = _staging_scheme(conf)
    is_there = bool(mount or conf.get("vas.lustre.mount") or scheme == "lustre")
    if is_there and (scheme in ("", "lustre") or _may_be_local(conf, scheme)):
        return MediumChoice("lustre", "the site has Lustre")
    lacking = f"{_STAGING_KEY} is on {scheme}" if is_there else "the site has no Lustre"
    if conf.get(SERVICE_KEY) != SERVICE:
        return MediumChoice("stock", f"{lacking}, and {SERVICE_KEY} is not vas-shuffled's")
    if lacks_tls(conf):
        return MediumChoice("stock", f"{lacking}, {TLS_KEY} is true, and vas-shuffled has no TLS")
    return MediumChoice("node", f"{lacking}, and its nodes run vas-shuffled")


def _staging_scheme(conf: JobConfiguration) -> str:
    return urlsplit(conf.get(_STAGING_KEY)).scheme or urlsplit(conf.get("fs.defaultFS")).scheme


def _may_be_local(conf: JobConfiguration, scheme: str) -> bool:
    return scheme == "file" and conf.get(_LOCAL_STAGING_KEY).strip().lower() == "true"


def missing_daemon(choice: MediumChoice, site: Mapping[str, str]) -> str:
    """Returns why reducers may find no vas-shuffled on their nodes; empty if they will find it, or
    need none."""
    if choice.medium != "node" or site.get(SERVICE_KEY) == SERVICE:
        return ""
    return f"{SERVICE_KEY} is not {SERVICE} here: nodes without it fail the job (docs/jbs.md)"
