"""Reads the usage texts that lfs prints after a wrong option. texts/README.md has their source."""

from importlib.resources import files

_TEXTS = files("vas_lab.lustre.lfs") / "texts"

SETSTRIPE = (_TEXTS / "setstripe.txt").read_text()
GETSTRIPE = (_TEXTS / "getstripe.txt").read_text()
GETNAME = (_TEXTS / "getname.txt").read_text()
