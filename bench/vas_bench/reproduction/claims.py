"""The model of the papers' claims, as files in docs/evidence/claims hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from vas_bench.results.measures import measure_of
from vas_bench.run.plan import Many
from vas_core.errors import BadInput
from vas_core.settings import read_yaml
from vas_yarn.jobs.systems import System

VerdictWord = Literal["same", "better", "different", "not shown", "cannot"]
PHASE = "phase/"
"""The prefix of a measure that is one of a run's phases: `phase/map`."""
_PAGE = "page.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _wrong(what: str) -> PydanticCustomError:
    return PydanticCustomError("vas", "{what}", {"what": what})


def _pair(value: Any) -> Any:
    return [value, value] if isinstance(value, int | float) else value


def _some(claims: tuple[PaperClaim, ...]) -> tuple[PaperClaim, ...]:
    # Field(min_length=1) would report every malformed claim a second time, as an empty list.
    if not claims:
        raise _wrong("holds no claim: add one with `claim` and `theirs`")
    return claims


Percents = Annotated[tuple[float, float], BeforeValidator(_pair)]


class PaperAmount(_Model):
    """How a paper's system differs from its base: the direction, and the percents if it has any.

    `none` says that it does not differ. One percent is both ends; `up to 4 %` is [0, 4].
    """

    direction: Literal["less", "more", "none"] = Field(description="less, more or none")
    percent: Percents | None = Field(None, description="a percentage, or a list of two")

    @property
    def ratios(self) -> tuple[float, float] | None:
        """The smallest and the largest ratio, system / base; None where the paper has none."""
        if self.percent is None:
            return None
        sign = -1 if self.direction == "less" else 1
        low, high = sorted(1 + sign * percent / 100 for percent in self.percent)
        return low, high


class MeasuredClaim(_Model):
    """The runs of a plan's file of results that answer a claim.

    `parameters` are a plan's; a list, of workloads too, compares once for each of its values.
    `against` are those in which the base's runs differ, as where one system is held against itself.
    """

    plan: str
    workload: Many[str]
    measure: str
    system: System
    base: System
    parameters: dict[str, Many[int | str]] = {}
    against: dict[str, Many[int | str]] = {}
    paper: PaperAmount

    @model_validator(mode="after")
    def _judged_by_its_direction(self) -> MeasuredClaim:
        found = measure_of(self.measure)
        better = "lower" if self.measure.startswith(PHASE) else found and found.better
        wanted = {"less": ("lower",), "more": ("higher",), "none": ("lower", "higher")}
        if better not in wanted[self.paper.direction]:
            known = f"better {better}" if better else "unknown"
            what = f"measure {self.measure} is {known}, paper.direction is {self.paper.direction}"
            raise _wrong(f"{what}: give the better direction, or another measure")
        if self.system == self.base and not self.against:
            raise _wrong(f"{self.system} is its own base: give `against`, or another base")
        return self


class PaperClaim(_Model):
    """One row of the page: a claim, what the paper has, what VAS has, and the verdict.

    A measured claim has no `verdict`: it is computed. `pages` have the figures of `ours`, besides
    those that it links and those of its section.
    """

    claim: str
    theirs: str
    ours: str = ""
    pages: tuple[str, ...] = ()
    measured: MeasuredClaim | None = None
    verdict: VerdictWord | None = Field(
        None, description="same, better, different, not shown or cannot"
    )
    reason: str = ""
    simulated: bool = False

    @model_validator(mode="after")
    def _one_verdict(self) -> PaperClaim:
        if self.measured and (self.verdict or self.reason):
            raise _wrong("has `measured`, whose verdict is computed: remove `verdict` and `reason`")
        if not self.measured and not self.verdict:
            raise _wrong("has no `verdict`, and no `measured` to compute it from")
        if self.verdict in ("different", "not shown", "cannot") and not (self.reason or self.ours):
            raise _wrong(f"is {self.verdict!r} without `reason`")
        for name in ("claim", "theirs", "ours", "reason"):
            if set(getattr(self, name)) & {"|", "\n"}:
                raise _wrong(f"`{name}` has a | or a line end, which no cell of a table takes")
        return self


class ClaimSection(_Model):
    """A section of the page. `pages` have the figures of all its claims and of `after`."""

    title: str
    intro: str
    after: str = ""
    pages: tuple[str, ...] = ()
    claims: Annotated[tuple[PaperClaim, ...], AfterValidator(_some)]


class ClaimPage(_Model):
    """The text before the table of verdicts, between it and the sections, and after them."""

    title: str
    intro: str
    legend: str
    end: str


@dataclass(frozen=True)
class ClaimFiles:
    """All claims: the page's own text, and each section by the file that holds it."""

    page: ClaimPage
    sections: Mapping[Path, ClaimSection]

    @property
    def measured(self) -> list[MeasuredClaim]:
        """The claims that files of results answer, in the page's order."""
        claims = (claim for section in self.sections.values() for claim in section.claims)
        return [claim.measured for claim in claims if claim.measured]


def read_claims(directory: Path) -> ClaimFiles:
    """Returns the claims of a directory: page.yaml, and a section in each other .yaml, by name.

    Raises BadInput that names the file, the key and the fix.
    """
    page = read_yaml(directory / _PAGE, ClaimPage)
    files = [file for file in sorted(directory.glob("*.yaml")) if file.name != _PAGE]
    if not files:
        raise BadInput("holds no section", where=str(directory), hint="add NAME.yaml with claims")
    return ClaimFiles(page, {file: read_yaml(file, ClaimSection) for file in files})
