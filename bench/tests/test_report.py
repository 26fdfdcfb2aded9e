"""The report: what it says of runs, and the page it says it on."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from made_up_runs import made_up_results, made_up_run, made_up_scaling

from vas_bench.report.facts import facts_of
from vas_bench.report.json import as_json
from vas_bench.report.markdown import markdown
from vas_bench.report.page import WIDE_PX, all_findings, html, page_of, svg
from vas_bench.report.words import interval_words, value_words
from vas_bench.results.record import BenchRun, make_run
from vas_bench.results.store import read_results
from vas_bench.usl.fit import Fit, Way
from vas_core.cli import run_command

_GOLDEN = Path(__file__).parent / "golden" / "made-up-report.html"


def _results(path: Path, runs: list[BenchRun]) -> Path:
    path.write_text("".join(run.model_dump_json() + "\n" for run in runs))
    return path


def _told(runs: list[BenchRun]) -> str:
    return " ".join(" ".join([f.text, *f.evidence]) for f in all_findings(facts_of(runs)))


def _samples(seconds: dict[str, list[float]]) -> list[BenchRun]:
    return [
        made_up_run(id=f"{system}-{n}", system=system, measures={"job_seconds": value}, phases={})
        for system, values in seconds.items()
        for n, value in enumerate(values)
    ]


def test_what_won_is_said_with_its_interval_and_how_sure() -> None:
    told = _told(made_up_results())
    assert "VAS was the fastest" in told
    assert re.search(
        r"VAS against YARN-Lustre: better: [\d.]+ % less time than YARN-Lustre \(", told
    )
    assert "more throughput" in told
    assert "p=0.032" in told


def test_what_may_be_chance_is_no_win() -> None:
    told = _told(_samples({"tez": [20, 22, 24, 26, 28], "vas": [19, 23, 24, 25, 29]}))
    assert "no difference is sure" in told
    assert "not significant" in told


def test_one_run_each_proves_nothing_and_says_so() -> None:
    told = _told(_samples({"yarn-lustre": [60.0], "vas": [20.0]}))
    assert "no difference is sure" in told
    assert "n=1 never is" in told


def test_the_base_can_be_chosen() -> None:
    runs = made_up_results()
    assert [c.base.label for c in facts_of(runs).comparisons] == ["YARN-Lustre"] * 2
    assert [c.base.label for c in facts_of(runs, "tez").comparisons] == ["tez"] * 2


def test_two_configurations_of_one_system_are_two_arms() -> None:
    runs = [
        made_up_run(n, configuration={"codec": codec}) for n, codec in enumerate(("none", "lz4"))
    ]
    (comparison,) = facts_of(runs).comparisons
    assert len({arm.label for arm in comparison.arms}) == 2
    moved = [made_up_run(n, environment={"cpus": n}) for n in (1, 2)]
    (comparison,) = facts_of(moved).comparisons
    assert [" on " in arm.label for arm in comparison.arms] == [True, True]


def test_a_run_far_out_is_flagged_and_stays_in_every_figure() -> None:
    seconds = [20.0, 20.1, 20.2, 20.3, 99.0]
    runs = [
        made_up_run(number, measures={"job_seconds": each}, phases={})
        for number, each in enumerate(seconds)
    ]
    figure = next(page_of(facts_of(runs), "t").figures)
    (row,) = [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]
    assert (row["outliers"], row["n"], row["median s"]) == ("99", "5", "20.2")
    assert row["runs in s"].endswith(", 99")
    assert row["spread (CV)"] == "98.2 %"


def test_arms_of_different_machines_are_said_to_be() -> None:
    runs = [made_up_run(1), made_up_run(2, system="tez", environment={"cpus": 64})]
    assert "They ran in 2 environments" in _told(runs)
    assert "environments" not in _told(made_up_results(rounds=1))


def test_mean_phases_add_up_to_the_mean_job() -> None:
    for comparison in facts_of(made_up_results()).comparisons:
        for arm in comparison.arms:
            assert sum(arm.phases.values()) == pytest.approx(arm.job.mean, abs=0.02)
            assert list(arm.phases)[-1] == "unaccounted"


@pytest.fixture(scope="module")
def page() -> str:
    return html(page_of(facts_of(made_up_results()), "Made-up runs, no measurement"))


def test_the_page_is_the_golden_one(page: str) -> None:
    """Renew it: VAS_RENEW_GOLDEN=1 pytest bench/tests/test_report.py; then look at the page."""
    if os.environ.get("VAS_RENEW_GOLDEN"):
        _GOLDEN.parent.mkdir(exist_ok=True)
        _GOLDEN.write_text(page, encoding="utf-8")
    assert page == _GOLDEN.read_text(encoding="utf-8")


def test_the_page_asks_for_nothing_outside_itself(page: str) -> None:
    assert "default-src 'none'" in page
    without_names = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//|\bsrc=|\bhref=|@import|url\(", _without_data(without_names))


def _without_data(page: str) -> str:
    return re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)


def test_what_runs_say_is_never_markup(page: str) -> None:
    assert page.count("<script") == 1
    assert '<script type="application/json"' in page
    assert "alert(" in page
    assert "TeraValidate: &lt;script&gt;alert(" in page


def test_invalid_runs_are_listed_with_their_reason(page: str) -> None:
    assert "made-up-bad" in _without_data(page)
    assert "1 run was marked INVALID" in page
    assert "10 runs were made to warm up" in page


def test_each_figure_has_a_title_a_description_and_a_table(page: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", page, flags=re.DOTALL)
    assert len(figures) == 8
    for figure in figures:
        assert figure.count("<title id=") == figure.count("<desc id=") == 2
        assert "<table>" in figure
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_figures_are_svg_that_parses() -> None:
    for figure in page_of(facts_of(made_up_results()), "t").figures:
        root = ElementTree.fromstring(svg(figure.draw(WIDE_PX), figure.name))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_many_hosts_are_cut_to_the_worst() -> None:
    local = {f"vm{n}": {"data_local_maps": n, "rack_local_maps": 40 - n} for n in range(40)}
    facts = facts_of([made_up_run(hosts=local)])
    figure = next(f for f in page_of(facts, "t").figures if f.name.endswith("locality"))
    texts = [text.text for text in figure.draw(WIDE_PX).texts]
    assert "VAS (the 12 lowest of 40 hosts)" in texts
    assert len(texts) == 1 + 2 * 12
    assert len(figure.rows) == 40


def test_markdown_is_a_table_whose_cells_cannot_break_it() -> None:
    runs = [made_up_run(n, workload="a|b<c>") for n in range(2)]
    text = markdown(facts_of(runs))
    assert "**a\\|b\\<c> (hosts 4, size 1 GiB)**" in text
    assert "| VAS | 20 s" in text


def test_json_has_every_experiment() -> None:
    found = json.loads(json.dumps(as_json(facts_of(made_up_results()))))
    assert [len(each["arms"]) for each in found["comparisons"]] == [5, 5]
    assert found["invalid"][0]["id"] == "made-up-bad"
    vas = found["comparisons"][0]["arms"][-1]
    assert vas["measures"]["job_seconds"]["n"] == 5
    assert vas["job_seconds_against_base"]["ratio"]["value"] < 0.5


@pytest.mark.unhurried
def test_the_command_writes_a_page_that_is_results_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = made_up_results(rounds=2)
    results = _results(tmp_path / "results.jsonl", runs)
    figures = tmp_path / "figures"
    assert run_command(["bench", "report", str(results), "--figures", str(figures)]) == 0
    shown = capsys.readouterr()
    assert "no difference is sure" in shown.out
    assert f"report: {tmp_path / 'results.html'}" in shown.err
    assert read_results(tmp_path / "results.html", say=print) == tuple(runs)
    assert len(list(figures.glob("*.svg"))) == len(list(figures.glob("*.png"))) == 8
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in figures.glob("*.png"))


def test_what_would_overwrite_or_be_ignored_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = _results(tmp_path / "r.html", [made_up_run()])
    before = page.read_bytes()
    assert run_command(["bench", "report", str(page)]) == 2
    assert "give --out" in capsys.readouterr().err
    assert page.read_bytes() == before
    for options in (["--json", "--markdown"], ["--out", str(tmp_path / "x"), "--markdown"]):
        assert run_command(["bench", "report", str(page), *options]) == 2
        assert "give one of --out, --markdown, --json" in capsys.readouterr().err


def test_a_base_that_never_ran_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = _results(tmp_path / "r.jsonl", made_up_results(rounds=1))
    assert run_command(["bench", "report", str(results), "--base", "yarn-hdfs"]) == 2
    assert "--base yarn-hdfs: it did not run" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_results_that_all_are_invalid_are_a_page_that_says_so() -> None:
    facts = facts_of([made_up_run(invalid="the environment changed")])
    text = html(page_of(facts, "t"))
    assert "1 run was marked INVALID" in text
    assert "the environment changed" in text


def test_damaged_results_are_refused_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = _results(tmp_path / "r.jsonl", made_up_results(rounds=1))
    with results.open("a") as file:
        file.write("{}\n")
    assert run_command(["bench", "report", str(results)]) == 2
    assert "line 22:" in capsys.readouterr().err
    assert run_command(["bench", "report", str(results), "--skip-damaged", "--markdown"]) == 0
    assert "line 22:" in capsys.readouterr().err


@pytest.mark.unhurried
def test_runs_on_several_numbers_of_hosts_are_a_curve() -> None:
    facts = facts_of(made_up_scaling())
    assert facts.compared == []
    (scaling,) = facts.scalings
    assert [fit.way for fit in scaling.fits if isinstance(fit, Fit)] == list(Way)
    page = page_of(facts, "t")
    (figure,) = page.figures
    assert len(figure.rows) == 24
    assert "VAS, 1 to 16 hosts: sublinear: it peaks at p = 1" in page.summary[0].text
    assert page.sections[0].tables[0].rows[0][0] == "sigma"


def test_two_numbers_of_hosts_are_no_curve() -> None:
    runs = [run for run in made_up_scaling() if run.parameters["hosts"] in (1, 2)]
    assert facts_of(runs).scalings == []
    assert len(facts_of(runs).compared) == 2


def test_other_versions_are_not_on_the_curve() -> None:
    runs = made_up_scaling()
    moved = [run for run in runs if run.parameters["hosts"] != 16]
    fields = runs[-1].model_dump(exclude={"configuration_hash", "environment_fingerprint"})
    other = make_run(**(fields | {"versions": {"hadoop": "1"}}))
    (scaling,) = facts_of([*moved, other]).scalings
    assert max(point.p for point in scaling.points) == 12


def test_rates_have_a_unit_that_fits_as_sizes_have() -> None:
    rate = "throughput_bytes_per_second"
    assert value_words(rate, 12_478_054.4) == "11.9 MiB/s"
    assert interval_words(rate, (6_378_437.0, 12_478_054.4)) == "6.1 to 11.9 MiB/s"
    assert interval_words(rate, (1000.0, 12_478_054.4)) == "1000 B/s to 11.9 MiB/s"
