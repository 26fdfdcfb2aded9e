"""Plays the two runs of a result on a site."""

from __future__ import annotations

from vas_bench.engine.play import Played
from vas_bench.hsph.phase_work import PhaseWork
from vas_bench.hsph.play import HsphRequest, phase_steps, played
from vas_bench.hsph.record import HsphSubject
from vas_bench.run.experiments import experiments
from vas_bench.run.systems import sizes_of
from vas_bench.site.options import SiteOptions
from vas_bench.site.site import ClusterSite
from vas_core.progress import Steps


def play_on_site(request: HsphRequest, options: SiteOptions) -> Played[HsphSubject]:
    """Plays both runs on a site. Energy is not metered: its nodes' meters cannot be read from here.

    Raises BadInput for a site that does not fit, VasError without a result.
    """
    site = ClusterSite(request.plan, options, request.say)
    (experiment,) = experiments(site.plan)

    def work() -> PhaseWork:
        sizes, directory = sizes_of(experiment), f"{site.directory}/hsph"
        return PhaseWork(site.place, sizes, site.arm(experiment), directory)

    shown = Steps.show(phase_steps(experiment), site.learned.parent / "phase-seconds.json")
    return played(request, site, experiment, work, shown)
