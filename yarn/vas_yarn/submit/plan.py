"""Plans a submission: the command line, and the configuration that the job gets by it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from vas_core.errors import BadInput
from vas_yarn.lint.rules import TAG, TAGS_KEY, keeps_output_on_nodes
from vas_yarn.profiles import profile_file, profile_properties
from vas_yarn.site_files import JobConfiguration, as_mapping
from vas_yarn.submit.master import (
    HADOOPS_OPTIONS,
    MASTER,
    OPTIONS_KEY,
    REUSE_KEY,
    wants_warm,
    why_not,
)

_HEAP_FLAG = re.compile(r"-Xm[xn]\S+\s*")
# Hadoop's generic options with a value, besides -D.
_GENERIC = ("-libjars", "-files", "-archives", "-fs", "-jt")


@dataclass(frozen=True)
class SubmittedJob:
    """A job as the user asked for it.

    `leading` stands between the jar and the options (`vas_yarn.submit.entry`), `options` are those
    of `-D`, `generic` Hadoop's other generic options, `words` the program's own arguments.
    """

    jar: Path
    leading: tuple[str, ...]
    words: tuple[str, ...]
    options: Mapping[str, str]
    conf: Path | None = None
    generic: tuple[str, ...] = ()


@dataclass(frozen=True)
class SubmissionPlan:
    """The words after `hadoop`, and all properties that the job will have."""

    arguments: tuple[str, ...]
    properties: Mapping[str, str]
    replaced: Mapping[str, str]
    """The site's values of keys that the profile decides otherwise."""
    cold: str | None = None
    """Why a job that asks for warm containers is not given their master."""

    @property
    def configuration(self) -> JobConfiguration:
        """Returns the properties as Hadoop reads them."""
        return as_mapping(self.properties)


def plan(
    job: SubmittedJob,
    profile: str,
    site: Mapping[str, str],
    conf: Mapping[str, str],
    switches: Mapping[str, str] | None = None,
) -> SubmissionPlan:
    """Plans a submission: `-D` wins over the user's file, the profile and the site's files.

    `site`, `conf` and `switches` are properties, key -> value: those of the site's files, of the
    user's file, and those that select the medium of map output; `switches` win over the profile,
    not over the user's properties.

    A job that asks for warm containers gets their master if nodes have it. Its tags are all tags
    that the profile, the site and the user set. If the user sets the size of a container, the
    profile's heap for it is left out. Raises BadInput for a wrong profile file, and for a wrong
    value of vas.containers.reuse.
    """
    of_profile = profile_properties(profile)
    asked = {**conf, **job.options}
    switched = {key: value for key, value in (switches or {}).items() if key not in asked}
    chosen = {**of_profile, **switched}
    beyond = {k: v for k, v in switched.items() if of_profile.get(k) != v and k != TAGS_KEY}
    options = {**beyond, **_without_heaps(chosen, asked), **job.options}
    properties = {**site, **chosen, **conf, **options}
    tags = _tags(properties, [site, chosen, conf, job.options])
    if tags != properties.get(TAGS_KEY, ""):
        properties[TAGS_KEY] = options[TAGS_KEY] = tags
    warm = _master_options(properties, site, asked)
    options |= warm.options
    properties |= warm.options
    files = [profile_file(profile), *([job.conf] if job.conf else [])]
    generic = chain(
        *(("-conf", str(file)) for file in files),
        *(("-D", f"{key}={value}") for key, value in options.items()),
    )
    replaced = {
        key: site[key]
        for key, value in chosen.items()
        if key != TAGS_KEY and site.get(key, value) != value and properties[key] == value
    }
    arguments = ("jar", str(job.jar), *job.leading, *generic, *job.generic, *job.words)
    return SubmissionPlan(arguments, properties, replaced, warm.cold)


@dataclass(frozen=True)
class _Warm:
    """The options that give a job its master, or why a job that asks for it goes without."""

    options: Mapping[str, str]
    cold: str | None = None


def _master_options(
    properties: Mapping[str, str], site: Mapping[str, str], asked: Mapping[str, str]
) -> _Warm:
    """The user's own master stays, and the site's word on containers is above a profile's.

    But for a profile that wants none: `off` is off where the site has them on for every job, too.
    """
    options = {}
    word = properties.get(REUSE_KEY, "off")
    if REUSE_KEY in site and REUSE_KEY not in asked and word not in (site[REUSE_KEY], "off"):
        options[REUSE_KEY] = site[REUSE_KEY]
    conf = as_mapping({**properties, **options})
    flags = properties.get(OPTIONS_KEY, HADOOPS_OPTIONS)
    if OPTIONS_KEY in asked:
        return _Warm(options)
    if not wants_warm(conf):
        rest = " ".join(flag for flag in flags.split() if flag != MASTER)
        return _Warm({**options, OPTIONS_KEY: rest} if MASTER in flags.split() else options)
    if MASTER in flags.split():
        return _Warm(options)
    cold = why_not(conf)
    return _Warm(options, cold) if cold else _Warm({**options, OPTIONS_KEY: f"{flags} {MASTER}"})


def _without_heaps(chosen: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """JVM flags of which Hadoop makes the heap from the container, as it does without a profile."""
    return {
        flags: _HEAP_FLAG.sub("", chosen[flags]).strip()
        for kind in ("map", "reduce")
        if (flags := f"mapreduce.{kind}.java.opts") in chosen
        and f"mapreduce.{kind}.memory.mb" in asked
        and flags not in asked
    }


def _tags(properties: Mapping[str, str], sources: Sequence[Mapping[str, str]]) -> str:
    every = (tag.strip() for source in sources for tag in source.get(TAGS_KEY, "").split(","))
    tags = list(dict.fromkeys(tag for tag in every if tag))
    if keeps_output_on_nodes(as_mapping(properties)):
        tags = [tag for tag in tags if tag != TAG]
    return ",".join(tags)


@dataclass(frozen=True)
class SplitWords:
    """A program's words, taken apart: values of `-D`, other generic options, and the rest."""

    options: tuple[str, ...]
    generic: tuple[str, ...]
    rest: tuple[str, ...]


def split_words(words: Sequence[str]) -> SplitWords:
    """Splits a program's words: the leading generic options, as GenericOptionsParser reads them,
    and the rest.

    Raises BadInput for an option without a value, and for `-conf`.
    """
    rest = list(words)
    options: list[str] = []
    kept: list[str] = []
    while rest and (rest[0].startswith("-D") or rest[0] in (*_GENERIC, "-conf")):
        option = rest.pop(0)
        if option == "-conf":
            raise BadInput("-conf: its properties would not be seen", hint="give it as --conf")
        if option in _GENERIC:
            kept += [option, _value(option, rest, "VALUE")]
        else:
            options.append(option[2:] or _value(option, rest, "key=value"))
    return SplitWords(tuple(options), tuple(kept), tuple(rest))


def _value(option: str, rest: list[str], form: str) -> str:
    if not rest:
        raise BadInput(f"{option}: nothing behind it", hint=f"write {option} {form}")
    return rest.pop(0)
