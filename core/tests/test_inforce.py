"""What a daemon is told: taken, refused, kept, and used again."""

from __future__ import annotations

import logging
import math
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter
from pydantic import BaseModel

from vas_core.errors import BadInput, VasError
from vas_core.inforce import InForce, InForceMetrics
from vas_core.lastgood import FILE, LastGood


class Told(BaseModel):
    words: str


class Bed:
    """One, with a file that it reads."""

    def __init__(self, directory: Path) -> None:
        self.file, self.registry = directory / "told", CollectorRegistry()
        self.kept = LastGood(directory / "kept", Told)
        self.used: list[str] = []

    def read(self) -> Told:
        text = self.file.read_text()
        if text == "bad":
            raise BadInput("is bad", where="told")
        if text == "strange":
            raise ZeroDivisionError("a bug")
        return Told(words=text)

    def use(self, told: Told) -> None:
        if told.words == "useless":
            raise VasError("no such interface")
        self.used.append(told.words)

    def in_force(self, load: Callable[[], Told] | None = None) -> InForce[Told]:
        self.registry = CollectorRegistry()
        metrics = InForceMetrics(self.registry, "map", "map")
        reloads = Counter("reloads", "x", ["result"], registry=self.registry)
        log = logging.getLogger("test")
        return InForce(load or self.read, (self.file,), self.kept, metrics, reloads, log)

    def value(self, name: str) -> float | None:
        return self.registry.get_sample_value(name)


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def test_H7_what_is_kept_is_root_s_alone_and_read_again(bed: Bed) -> None:
    bed.kept.write(Told(words="good"))
    file = bed.kept.directory / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    found = bed.kept.read()
    assert found is not None and found[0].words == "good" and found[1] > 1e9


@pytest.mark.parametrize("text", ["bad", "strange", "useless", None])
def test_H7_a_start_goes_on_with_what_was_kept(bed: Bed, text: str | None) -> None:
    bed.kept.write(Told(words="good"))
    if text is not None:
        bed.file.write_text(text)
    told = bed.in_force()
    assert told.start(bed.use).words == "good"
    assert (bed.used, told.is_current, bed.value("map_current")) == (["good"], False, 0)
    age = bed.value("map_age_seconds")
    assert age is not None and 0 <= age < 600
    assert bed.value("reloads_total") is None
    assert bed.registry.get_sample_value("reloads_total", {"result": "kept"}) == 1


def test_H7_without_anything_kept_a_start_says_what_is_wrong_with_the_file(bed: Bed) -> None:
    bed.file.write_text("bad")
    with pytest.raises(BadInput, match="is bad"):
        bed.in_force().start(bed.use)
    (bed.kept.directory).mkdir()
    (bed.kept.directory / FILE).write_text("{")
    with pytest.raises(BadInput, match="is bad"):
        bed.in_force().start(bed.use)


def test_H7_a_refusal_is_an_alarm_until_a_reading_is_taken(
    bed: Bed, caplog: pytest.LogCaptureFixture
) -> None:
    bed.file.write_text("good")
    told = bed.in_force()
    assert math.isnan(bed.value("map_age_seconds") or 0)
    told.start(bed.use)
    assert bed.value("map_current") == 1 and not told.is_due(0)
    bed.file.write_text("strange")
    assert told.is_due(0)
    for _ in range(2):
        told.note_reading()
        told.refused(ZeroDivisionError("a bug"))
    assert bed.value("map_current") == 0 and len(caplog.records) == 1, "said once"
    assert not told.is_due(0) and told.is_due(float("inf")), "and tried again later"
    told.note_reading()
    told.took()
    assert bed.value("map_current") == 1 and told.is_current


def test_H7_what_was_refused_is_read_again_though_no_file_changed(bed: Bed) -> None:
    """What was wrong may have been elsewhere: an interface that is back, a server that answers."""
    bed.file.write_text("good")
    told = bed.in_force()
    told.start(bed.use)
    bed.file.write_text("useless")
    told.note_reading()
    told.refused(VasError("no such interface"))
    now = time.monotonic()
    assert not told.is_due(now)
    assert told.is_due(now + 31)
    told.note_reading()
    assert not told.is_due(now + 31), "it is being read"
