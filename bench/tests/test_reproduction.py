"""The page of the papers' claims: the rule of verdicts, the join with runs, quoted figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import made_up_run

from vas_bench.reproduction.claims import ClaimFiles, MeasuredClaim, PaperAmount, read_claims
from vas_bench.reproduction.measured import ClaimOutcome, outcomes_of
from vas_bench.reproduction.page import reproduction_page
from vas_bench.reproduction.plans import check_plans
from vas_bench.reproduction.quoted import missing_figures, parsed_page
from vas_bench.reproduction.sources import QuotedSources
from vas_bench.results.record import BenchRun
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.repository import REPOSITORY

MIB = 1 << 20
STOCK = [20.0, 20.4, 19.8, 20.1, 20.3]


def claim(**fields: Any) -> MeasuredClaim:
    usual: dict[str, Any] = {
        "plan": "night-locality",
        "workload": "terasort",
        "measure": "job_seconds",
        "system": "vas",
        "base": "yarn-lustre",
        "paper": {"direction": "less", "percent": 30},
    }
    return MeasuredClaim.model_validate(usual | fields)


def runs_of(
    system: str, seconds: Sequence[float], size: int = 256, **fields: Any
) -> list[BenchRun]:
    parameters = {"size_bytes": size * MIB, "split_bytes": 32 * MIB, "links": "honest"}
    usual: dict[str, Any] = {"workload": "terasort", "parameters": parameters}
    return [
        made_up_run(
            id=f"{system} {size} {sorted(fields.items())} {number}",
            system=system,
            measures={"job_seconds": time, "dfsio_bytes_per_second/throughput": 1e6 / time},
            phases={"map": time / 2},
            **(usual | fields),
        )
        for number, time in enumerate(seconds)
    ]


def faster(factor: float, runs: int = 5) -> list[BenchRun]:
    """Stock's runs, and VAS's whose times are stock's by a factor."""
    times = STOCK[:runs]
    return runs_of("yarn-lustre", times) + runs_of("vas", [factor * each for each in times])


def only(found: list[ClaimOutcome]) -> ClaimOutcome:
    (outcome,) = found
    return outcome


@pytest.mark.parametrize(
    ("factor", "paper", "verdict"),
    [
        (0.70, {"direction": "less", "percent": 30}, "same"),
        (0.70, {"direction": "less", "percent": [25, 35]}, "same"),
        (0.70, {"direction": "less"}, "same"),
        (0.97, {"direction": "less", "percent": [0, 4]}, "same"),
        (0.40, {"direction": "less", "percent": 30}, "better"),
        (0.80, {"direction": "less", "percent": [0, 4]}, "better"),
        (0.90, {"direction": "less", "percent": 30}, "different"),
        (1.50, {"direction": "less", "percent": 30}, "different"),
        (1.50, {"direction": "less"}, "different"),
        (0.70, {"direction": "none"}, "different"),
        (1.00, {"direction": "less", "percent": 30}, "not shown"),
        (1.00, {"direction": "none"}, "not shown"),
    ],
)
def test_the_verdict_of_a_time(factor: float, paper: dict[str, Any], verdict: str) -> None:
    assert only(outcomes_of(claim(paper=paper), faster(factor))).verdict == verdict


@pytest.mark.parametrize(
    ("factor", "percent", "verdict"),
    [
        (1 / 1.2, 20, "same"),
        (1 / 2, 20, "better"),
        (1 / 1.2, 108, "different"),
        (1.5, 20, "different"),
    ],
)
def test_the_verdict_of_a_rate(factor: float, percent: float, verdict: str) -> None:
    of = claim(
        measure="dfsio_bytes_per_second/throughput", paper={"direction": "more", "percent": percent}
    )
    assert only(outcomes_of(of, faster(factor))).verdict == verdict


def test_too_few_runs_show_nothing_however_far_apart() -> None:
    outcome = only(outcomes_of(claim(), faster(0.1, runs=3)))
    assert outcome.verdict == "not shown"
    assert outcome.reason == "so few runs never are significant, 4 of each can be"
    assert outcome.difference and outcome.difference.ratio.value == pytest.approx(0.1)


def test_each_size_is_a_comparison_and_what_did_not_run_is_said() -> None:
    of = claim(parameters={"size": ["256M", "512M"]})
    both = outcomes_of(of, faster(0.7))
    assert [(each.case, each.verdict, each.reason) for each in both] == [
        ("size 256 MiB", "same", ""),
        ("size 512 MiB", "not shown", "not run yet"),
    ]


def test_p_is_corrected_for_the_comparisons_of_a_claim() -> None:
    more = runs_of("yarn-lustre", STOCK, 512) + runs_of("vas", [0.7 * t for t in STOCK], 512)
    alone = only(outcomes_of(claim(parameters={"size": "256M"}), faster(0.7))).difference
    first, _ = outcomes_of(claim(parameters={"size": ["256M", "512M"]}), faster(0.7) + more)
    assert alone and first.difference
    assert first.difference.p == pytest.approx(2 * alone.p)


def test_parameters_that_leave_several_experiments_open_are_refused() -> None:
    with pytest.raises(BadInput, match=r"runs of vas .* differ in size_bytes; name the value"):
        outcomes_of(claim(), faster(0.7) + runs_of("vas", STOCK, 512))


def test_a_system_may_be_held_against_itself() -> None:
    small = {"size_bytes": 256 * MIB, "split_bytes": 16 * MIB, "links": "honest"}
    runs = runs_of("vas", STOCK) + runs_of("vas", [2 * t for t in STOCK], parameters=small)
    of = claim(base="vas", parameters={"split": "32M"}, against={"split": "16M"})
    outcome = only(outcomes_of(of, runs))
    assert outcome.case == "split 32 MiB / 16 MiB"
    assert outcome.difference and outcome.difference.ratio.value == pytest.approx(0.5)


def test_builds_are_not_mixed_and_the_newest_of_both_counts() -> None:
    old: dict[str, Any] = {"versions": {"plugins": "old"}}
    later: dict[str, Any] = {"versions": {"plugins": "new"}, "time": "2026-02-01T00:00:00Z"}
    runs = runs_of("yarn-lustre", STOCK, **old) + runs_of("vas", [9.0] * 5, **old)
    newest = runs_of("vas", [14.0] * 5, **later)
    assert only(outcomes_of(claim(), runs + newest)).left_out == 5
    alone = only(outcomes_of(claim(), runs[:5] + newest))
    assert (alone.verdict, alone.reason) == ("not shown", "base and system ran on other builds")
    outcome = only(outcomes_of(claim(), runs + newest + runs_of("yarn-lustre", STOCK, **later)))
    assert outcome.left_out == 10
    assert outcome.difference and outcome.difference.pair.samples == [14.0] * 5


def test_warm_ups_and_invalid_runs_are_no_samples() -> None:
    bad = runs_of("vas", [1.0], invalid="it failed") + runs_of("vas", [1.0], warm_up=True)
    outcome = only(outcomes_of(claim(), faster(0.7) + bad))
    assert outcome.difference and len(outcome.difference.pair.samples) == 5


def test_a_phase_is_a_measure() -> None:
    outcome = only(outcomes_of(claim(measure="phase/map"), faster(0.7)))
    assert outcome.difference and outcome.difference.pair.base_samples[0] == 10.0


def test_a_measure_that_no_run_has_is_not_called_a_run_that_is_missing() -> None:
    outcome = only(outcomes_of(claim(measure="link_bytes/other hosts"), faster(0.7)))
    assert outcome.reason == "no run has link_bytes/other hosts"


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("job time 0.43 (0.42 to 0.47), n=5, p=0.008", []),
        ("job time 0.43 (0.42 to 0.48)", ["0.43 0.42 to 0.48"]),
        ("job time 0.44 (0.42 to 0.47)", ["0.44 0.42 to 0.47"]),
        ("n=6 and p=0.08", ["n=6", "p=0.08"]),
        ("192 of 192 maps, 180 with names alone", []),
        ("19 of 192", ["19"]),
        ("16 MiB and 10,058 packets", []),
        ("16 GiB", ["16 GiB"]),
        ("10,059", ["10,059"]),
        ("+48.0 % (30.0 to 66.0)", []),
        ("48.0 s", ["48.0 s"]),
        ("-7.1 %", []),
        ("-48.0 %", ["-48.0 %"]),
        ("of 64 KiB 13.88 s", []),
        ("1/14.0 of the packets", []),
        ("1/14.1", ["1/14.1"]),
        ("57 % less, 0.43", []),
        ("58 % less, 0.43", ["58 %"]),
        ("SLOAV2 by `vas bench run --size 768M` ([768](x768.md))", ["768"]),
        ("VAS's C2 and x86-64", []),
    ],
)
def test_a_figure_that_is_not_on_the_page_is_found(text: str, missing: list[str]) -> None:
    page = parsed_page(
        "Of 192 maps **192**,\n180 with names; 16 MiB a map, 10,058 packets; 1/14.0.\n\n"
        "| row | value | 95 % interval | n | p |\n|---|---|---|---|---|\n"
        "| time `a \\| b` | **0.43** | 0.42 to 0.47 | 5 | 0.008 |\n\n"
        "    pinning   +48.0 %   +30.0 to +66.0 %\n    both -7.1 %\n\n"
        "| reads | CPU, s |\n|---|---|\n| 64 KiB | 13.88 |\n"
    )
    assert missing_figures(text, [page]) == missing


PAGE = {"title": "T", "intro": "I", "legend": "L", "end": "E"}


def written(directory: Path, section: str, page: str = "0.43") -> Path:
    (directory / "claims").mkdir(exist_ok=True)
    head = "".join(f"{name}: {value}\n" for name, value in PAGE.items())
    (directory / "claims/page.yaml").write_text(head)
    (directory / "claims/a.yaml").write_text(section)
    (directory / "there.md").write_text(page)
    return directory / "claims"


QUOTED = """\
title: A
intro: I
claims:
  - {claim: it is fast, theirs: said, ours: "0.43 ([there](there.md))", verdict: same}
"""
MEASURED = """\
title: A
intro: I
claims:
  - claim: it is fast
    theirs: said
    measured: {plan: night-locality, workload: terasort, measure: job_seconds, system: vas,
      base: yarn-lustre, parameters: {size: [256M, 512M]}, paper: {direction: less}}
"""


def page_of(claims: ClaimFiles, directory: Path, **runs: Sequence[BenchRun]) -> str:
    named = {name.replace("_", "-"): each for name, each in runs.items()}
    return reproduction_page(claims, named, QuotedSources(directory))


def test_a_figure_that_drifted_is_one_error_with_claim_figure_and_page(tmp_path: Path) -> None:
    claims = read_claims(written(tmp_path, QUOTED, "it is 0.43"))
    assert "| it is fast | said | 0.43 ([there](there.md)) | **same** |" in page_of(
        claims, tmp_path
    )
    (tmp_path / "there.md").write_text("it is 0.44")
    what = r"a.yaml: claims\[0\] \(it is fast\): 0.43 does not stand on there.md; correct it"
    with pytest.raises(BadInput, match=what):
        page_of(claims, tmp_path)


def test_a_measured_row_has_figures_verdict_and_what_is_missing(tmp_path: Path) -> None:
    claims = read_claims(written(tmp_path, MEASURED))
    row = page_of(claims, tmp_path).splitlines()[-3]
    command = "vas bench run bench/plans/night-locality.yaml"
    assert f"not run yet: `{command} --out docs/evidence/results/night-locality.jsonl`" in row
    assert row.endswith("| **not shown**: not run yet |")
    row = page_of(claims, tmp_path, night_locality=faster(0.7)).splitlines()[-3]
    assert "size 256 MiB: 0.700 (0.68" in row and "n=5, p=0.0079; size 512 MiB: not run yet" in row
    assert "([runs](evidence/results/night-locality.md))" in row and f"`{command} --resume" in row
    verdicts = "**same** at size 256 MiB; **not shown** at size 512 MiB: not run yet"
    assert row.endswith(f"| {verdicts} |")


def test_simulated_figures_are_marked(tmp_path: Path) -> None:
    told = QUOTED.replace("verdict: same", "verdict: same, simulated: true")
    claims = read_claims(written(tmp_path, told))
    assert "| **simulated**: 0.43 (" in page_of(claims, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("verdict: same", "verdict: better than", "claims[0].verdict: "),
        (", verdict: same", "", "claims[0]: has no `verdict`"),
        ("verdict: same", "verdict: same, verdikt: x", "claims[0].verdikt: unknown key"),
        ("it is fast", "it | is", "claims[0]: `claim` has a |"),
        ('ours: "0.43 ([there](there.md))", verdict: same', "verdict: cannot", "without `reason`"),
    ],
)
def test_a_malformed_claim_is_one_error(before: str, after: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as found:
        read_claims(written(tmp_path, QUOTED.replace(before, after)))
    (line,) = found.value.lines()
    assert line.startswith(f"{tmp_path}/claims/a.yaml: ") and what in line


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("direction: less", "direction: more", "measure job_seconds is better lower"),
        ("measure: job_seconds", "measure: job_second", "measure job_second is unknown"),
        ("base: yarn-lustre,", "base: vas,", "vas is its own base"),
        ("    measured", "    verdict: same\n    measured", "whose verdict is computed"),
    ],
)
def test_a_malformed_comparison_is_one_error(
    before: str, after: str, what: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=what) as found:
        read_claims(written(tmp_path, MEASURED.replace(before, after)))
    assert len(found.value.lines()) == 1


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("night-locality", "night-nothing", "there is no plan night-nothing; one of night-compute"),
        ("512M", "64M", "night-locality does not run terasort on vas"),
        ("yarn-lustre,", "yarn-hdfs,", "night-locality does not run terasort on yarn-hdfs"),
    ],
)
def test_a_comparison_that_its_plan_does_not_run_is_refused(
    before: str, after: str, what: str, tmp_path: Path
) -> None:
    claims = read_claims(written(tmp_path, MEASURED.replace(before, after)))
    with pytest.raises(BadInput, match=what):
        check_plans(claims, REPOSITORY / "bench/plans")


def test_an_amount_is_a_range_of_ratios() -> None:
    assert PaperAmount(direction="less", percent=(0, 4)).ratios == (0.96, 1.0)
    more = PaperAmount.model_validate({"direction": "more", "percent": 108})
    assert more.ratios == pytest.approx((2.08, 2.08))


def test_the_command_writes_page_and_reports_and_checks_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims, results = written(tmp_path, MEASURED), tmp_path / "results"
    results.mkdir()
    lines = "".join(run.model_dump_json() + "\n" for run in faster(0.7))
    (results / "night-locality.jsonl").write_text(lines)
    page, report = tmp_path / "page.md", results / "night-locality.md"
    words = ["bench", "reproduction", "--claims", claims, "--results", results, "--out", page]
    command = [str(word) for word in words]
    assert run_command([*command, "--check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "not as claims and results say; run `vas bench reproduction`" in line
    assert str(report) in line and str(page) in line and not page.exists()
    assert run_command(command) == 0
    assert run_command([*command, "--check"]) == 0
    assert "size 256 MiB: 0.700" in page.read_text()
    text = report.read_text()
    picture = results / "night-locality-01-terasort-ratio.svg"
    assert f"]({picture.name})" in text and "0.70 (" in picture.read_text()
    assert "30.0 % less time than YARN-Lustre" in text and "kernel made up" in text
    assert max(len(line) for line in text.splitlines() if line[:1] not in "|!") <= 120
    page.write_text(page.read_text().replace("0.700", "0.600"))
    assert run_command([*command, "--check"]) == 1


def test_the_committed_pages_are_what_claims_and_results_say() -> None:
    assert run_command(["bench", "reproduction", "--check"]) == 0
