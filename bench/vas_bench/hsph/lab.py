"""Plays the two runs of a result in a lab on this machine."""

from __future__ import annotations

from vas_bench.engine.play import Played
from vas_bench.hsph.energy import EnergyMeter
from vas_bench.hsph.phase_work import PhaseWork
from vas_bench.hsph.play import HsphRequest, played, steps
from vas_bench.hsph.record import HsphSubject
from vas_bench.run.experiments import Experiment
from vas_bench.run.lab_site import LabSite
from vas_bench.run.systems import arm_of, sizes_of
from vas_core.progress import Steps
from vas_core.root import Root
from vas_lab.state import default_directory

_LAB = "bench-hsph"
_DIRECTORY = "/bench-hsph"


def play_in_lab(request: HsphRequest, experiment: Experiment) -> Played[HsphSubject]:
    """Starts a lab, plays both runs in it and ends it.

    Raises BadInput where there is no room, NotHere before a build, VasError where there is no
    result.
    """
    directory = default_directory(_LAB)
    site = LabSite(request.plan, directory, request.say)

    def work() -> PhaseWork:
        arm = arm_of(experiment, request.plan.properties)
        return PhaseWork(site.lab, sizes_of(experiment), arm, _DIRECTORY)

    shown = Steps.show(steps(experiment), directory / "phase-seconds.json")
    with EnergyMeter(Root()) as meter:
        return played(request, site, experiment, work, shown, meter.joules, starts=True)
