"""Problems of a document are told in the words that its author wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from vas_core.errors import BadInput
from vas_core.settings import read_yaml


class _Volume(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str
    share: float = Field(default=0.5, gt=0, lt=1)
    mode: Literal["fast", "safe"] = "safe"


class _Shelf(BaseModel):
    model_config = ConfigDict(extra="forbid")

    volumes: list[_Volume] = Field(default=[], min_length=1)
    rounds: int = Field(default=5, ge=1, description="runs of each, 1 or more")
    other: _Volume | None = None
    name: str = "x"

    @field_validator("name")
    @classmethod
    def _named(cls, name: str) -> str:
        if name == "me":
            raise ValueError("names nobody")
        return name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("round: 3", "round: unknown key; did you mean rounds?"),
        ("{bananas: 3}", "bananas: unknown key; known keys: volumes, rounds, other, name"),
        ("rounds: 0", "rounds: 0 is less than 1; expected runs of each, 1 or more"),
        ("rounds: many", 'rounds: "many" is not an integer; expected runs of each, 1 or more'),
        ("volumes: []", "volumes: is empty"),
        ("volumes: [{}]", "volumes[0].path: is missing; add path"),
        ("volumes: [{path: a, share: 1}]", "volumes[0].share: 1 is not less than 1.0"),
        (
            "volumes: [{path: a, mode: fats}]",
            "volumes[0].mode: \"fats\" is none of 'fast' or 'safe'; did you mean fast?",
        ),
        ("other: {path: a, mod: b}", "other.mod: unknown key; did you mean mode?"),
        ("other: 7", "other: 7 is not a mapping"),
        ("name: me", "name: names nobody"),
    ],
)
def test_a_problem_is_the_key_what_is_wrong_and_the_fix(
    text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "shelf.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as refused:
        read_yaml(file, _Shelf)
    assert str(refused.value) == f"{file}: {said}"


def test_all_problems_are_told_at_once_in_the_order_of_their_keys(tmp_path: Path) -> None:
    file = tmp_path / "shelf.yaml"
    file.write_text("rounds: 0\nvolumes: [{path: 1}, {}]\n")
    with pytest.raises(BadInput) as refused:
        read_yaml(file, _Shelf)
    assert [line.removeprefix(f"{file}: ") for line in str(refused.value).splitlines()] == [
        "rounds: 0 is less than 1; expected runs of each, 1 or more",
        "volumes[0].path: 1 is not a string",
        "volumes[1].path: is missing; add path",
    ]
