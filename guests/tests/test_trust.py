"""The trust of the guests' virtual functions: set where it differs, read back, none in use."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from vas_core.errors import FoundDifferent
from vas_core.process import Completed
from vas_guest.trust import Untrue, set_trust, waiting
from vas_guest.vfs import Adapter

PF = "ens1f0"
ADDRESSES = tuple(f"0000:03:10.{number}" for number in (0, 2, 4, 6))
FOUR = Adapter(PF, 7, 4, ("virtfn2",), ADDRESSES)


class Driver:
    """What `ip` asks and tells; as iproute2 6.1 says it. One that is deaf takes no trust."""

    def __init__(self, *trusted: int, deaf: bool = False) -> None:
        self.trusted = set(trusted)
        self.deaf = deaf
        self.told: list[tuple[int, str]] = []

    def run(self, argv: Sequence[str]) -> Completed:
        if argv[1:3] == ["link", "set"]:
            self.told.append((int(argv[6]), argv[8]))
            change = self.trusted.add if argv[8] == "on" else self.trusted.discard
            _ = self.deaf or change(int(argv[6]))
            return Completed(tuple(argv), 0, "", "")
        vfs = [{"vf": n, "trust": n in self.trusted} for n in range(4)]
        said = json.dumps([{"ifname": PF, "vfinfo_list": vfs}])
        return Completed(tuple(argv), 0, said, "")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver(0)
    monkeypatch.setattr("vas_guest.trust.run", made.run)
    return made


def test_those_of_the_pool_that_differ_are_set_and_nobody_elses(driver: Driver) -> None:
    chosen = [ADDRESSES[0], ADDRESSES[3]]
    assert set_trust(FOUR, chosen, trust=True, dry_run=True) == Untrue(free=(3,))
    assert driver.told == []
    assert set_trust(FOUR, chosen, trust=True, dry_run=False) == Untrue(free=(3,))
    assert driver.told == [(3, "on")]
    assert set_trust(FOUR, chosen, trust=True, dry_run=False) == Untrue()
    assert set_trust(FOUR, chosen, trust=False, dry_run=False) == Untrue(free=(0, 3))
    assert driver.trusted == set()


def test_one_in_use_is_left_as_it_is_and_that_is_said(driver: Driver) -> None:
    found = set_trust(FOUR, ADDRESSES[1:3], trust=True, dry_run=False)
    assert found == Untrue(free=(1,), used=(2,))
    assert driver.told == [(1, "on")]
    assert "virtual functions 2 differs from the settings" in waiting(found)
    assert waiting(Untrue(free=(1,))) == ""


def test_it_is_read_back(driver: Driver) -> None:
    driver.deaf = True
    with pytest.raises(FoundDifferent, match="did not take trust on of the virtual functions 1, 3"):
        set_trust(FOUR, [ADDRESSES[1], ADDRESSES[3]], trust=True, dry_run=False)
