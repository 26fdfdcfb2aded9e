"""The file of what was measured: what is written is read again, what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_core.errors import BadInput
from vas_routing.choices import DEFAULT_CHOICES, read_choices, write_choices
from vas_routing.links import Leg

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
PAIRS = st.frozensets(NAMES, min_size=2, max_size=2)


@pytest.mark.unhurried
@given(st.dictionaries(PAIRS, st.sampled_from(Leg)))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, choices: dict[frozenset[str], Leg]
) -> None:
    file = tmp_path_factory.mktemp("choices") / "choices.json"
    write_choices(file, choices)
    assert read_choices(file) == choices
    before = file.read_bytes()
    write_choices(file, read_choices(file))
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{}", "pairs"),
        ("nothing", "is not JSON"),
        (
            '{"pairs": [{"nodes": ["a", "b"], "faster": "wifi"}]}',
            "pairs[0].faster: \"wifi\" is none of 'virtio' or 'sriov'",
        ),
        ('{"pairs": [{"nodes": ["a"], "faster": "sriov"}]}', "pairs[0].nodes"),
        ('{"pairs": [], "more": 1}', "more"),
    ],
)
def test_a_wrong_file_is_named_with_its_key(tmp_path: Path, text: str, key: str) -> None:
    file = tmp_path / "choices.json"
    file.write_text(text)
    with pytest.raises(BadInput) as refused:
        read_choices(file)
    assert str(refused.value).startswith(f"{file}: {key}")


def test_only_the_default_file_may_be_missing(tmp_path: Path) -> None:
    assert DEFAULT_CHOICES.exists() or read_choices(DEFAULT_CHOICES) == {}
    with pytest.raises(BadInput, match="no such file"):
        read_choices(tmp_path / "choices.json")
