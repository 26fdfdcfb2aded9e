"""What is submitted: the command, and the configuration that it amounts to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from vas_core.errors import BadInput
from vas_yarn.lint.configuration import JobConfiguration, as_mapping
from vas_yarn.lint.rules import TAG, TAGS_KEY, is_off
from vas_yarn.profiles import profile_file, profile_properties


@dataclass(frozen=True)
class Job:
    """What the user asked for. `options` are those of `-D`, wherever they stood."""

    jar: Path
    main: str
    words: tuple[str, ...]
    options: Mapping[str, str]
    conf: Path | None = None


@dataclass(frozen=True)
class Plan:
    """A command without the program's name, and the properties of its job."""

    arguments: tuple[str, ...]
    properties: Mapping[str, str]

    @property
    def configuration(self) -> JobConfiguration:
        """The properties as Hadoop reads them."""
        return as_mapping(self.properties)


def plan(job: Job, profile: str, site: Mapping[str, str], conf: Mapping[str, str]) -> Plan:
    """The profile over the site's files, the user's file over it, `-D` over all.

    Tags are added up: those of the profile, and those that somebody else set.
    """
    chosen = profile_properties(profile)
    properties = {**site, **chosen, **conf, **job.options}
    options = dict(job.options)
    tags = _tags(properties, [site, chosen, conf, job.options])
    if tags != properties.get(TAGS_KEY, ""):
        properties[TAGS_KEY] = options[TAGS_KEY] = tags
    files = [profile_file(profile), *([job.conf] if job.conf else [])]
    generic = chain(
        *(("-conf", str(file)) for file in files),
        *(("-D", f"{key}={value}") for key, value in options.items()),
    )
    return Plan(("jar", str(job.jar), job.main, *generic, *job.words), properties)


def _tags(properties: Mapping[str, str], sources: Sequence[Mapping[str, str]]) -> str:
    every = (tag.strip() for source in sources for tag in source.get(TAGS_KEY, "").split(","))
    tags = list(dict.fromkeys(tag for tag in every if tag))
    if is_off(as_mapping(properties)):
        tags = [tag for tag in tags if tag != TAG]
    return ",".join(tags)


def leading_options(words: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The `-D key=value` options that a program's arguments begin with, and what follows.

    Raises BadInput for a -D without a value.
    """
    rest = list(words)
    return list(_taken(rest)), tuple(rest)


def _taken(rest: list[str]) -> Iterator[str]:
    while rest and rest[0].startswith("-D"):
        option = rest.pop(0)[2:]
        if not option and not rest:
            raise BadInput("-D: no property behind it", hint="write -D key=value")
        yield option or rest.pop(0)
