"""Parses XML from outside into a tree: entities are refused, nothing is fetched."""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from vas_core.errors import BadInput


class _Refused(Exception):
    """An entity is declared."""


def parse_xml(content: str | bytes, *, where: str) -> Element:
    """Returns the root element of an XML text; ignores a DOCTYPE. `where` names it in messages.

    Raises BadInput for a text that is not XML, and for a declared entity: a few lines of them can
    grow to gigabytes, or name a file of this machine.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content, True)
        return builder.close()
    except _Refused:
        raise BadInput("declares XML entities, which are refused", where=where) from None
    except (expat.ExpatError, ValueError) as wrong:
        raise BadInput(f"is not XML: {wrong}", where=where) from None


def _refuse(*_: object) -> None:
    raise _Refused
