"""The usage texts lfs prints after a wrong option. They are data: see texts/README.md."""

from importlib.resources import files

_TEXTS = files("vas_lab.lustre.lfs") / "texts"

SETSTRIPE = (_TEXTS / "setstripe.txt").read_text()
GETSTRIPE = (_TEXTS / "getstripe.txt").read_text()
GETNAME = (_TEXTS / "getname.txt").read_text()
