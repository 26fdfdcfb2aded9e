"""Makes man pages (section 1) from the help texts of the commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from vas_core.files import write_atomically


def write_man_pages(root: click.Command, name: str, version: str, directory: Path) -> list[Path]:
    """Writes a man page for a command and for each subcommand; returns the files, sorted.

    Makes `directory` if it is missing. Raises OSError if a file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for context in _contexts(root, name, None):
        file = directory / f"{context.command_path.replace(' ', '-')}.1"
        write_atomically(file, page(context, version))
        written.append(file)
    return sorted(written)


def page(context: click.Context, version: str) -> str:
    """Returns one command's page as roff text."""
    command, path = context.command, context.command_path
    title = path.replace(" ", "-")
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [
        f'.TH "{_escaped(title.upper())}" 1 "" "vas {version}" "VAS"',
        f".SH NAME\n{_escaped(title)} \\- {_escaped(_first_line(command))}",
        f".SH SYNOPSIS\n.B {_escaped(path)}\n{_escaped(usage)}",
        f".SH DESCRIPTION\n{_description(command.help or '')}",
        *_options(context),
        *_commands(context),
        ".SH SEE ALSO\nThe pages in docs/ of the repository; docs/README.md is their index.",
    ]
    return "\n".join(parts) + "\n"


def _contexts(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[click.Context]:
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None, below
            if not found.hidden:
                yield from _contexts(found, below, context)


def _first_line(command: click.Command) -> str:
    return command.get_short_help_str(limit=1000).rstrip(".")


def _description(text: str) -> str:
    """Paragraphs; one that begins with \\b keeps its lines, as click prints them."""
    paragraphs = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = [line.strip() for line in paragraph.splitlines()]
        if lines and lines[0] == "\b":
            # Of the two forms of an example a man page has that of its synopsis.
            rows = [line.rstrip().replace("./vas ", "vas ") for line in paragraph.splitlines()[1:]]
            kept = "\n".join(map(_escaped, rows))
            paragraphs.append(f".PP\n.nf\n{kept}\n.fi")
        else:
            paragraphs.append(f".PP\n{_escaped(' '.join(lines))}")
    return "\n".join(paragraphs)


def _options(context: click.Context) -> Iterator[str]:
    records = [p.get_help_record(context) for p in context.command.get_params(context)]
    known = [record for record in records if record and record[1]]
    if known:
        yield ".SH OPTIONS"
        yield from (f".TP\n.B {_escaped(names)}\n{_escaped(text)}" for names, text in known)


def _commands(context: click.Context) -> Iterator[str]:
    command = context.command
    if isinstance(command, click.Group):
        yield ".SH COMMANDS"
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None, name
            title = f"{context.command_path} {name}".replace(" ", "-")
            yield f".TP\n.BR {_escaped(title)} (1)\n{_escaped(_first_line(below))}"


def _escaped(text: str) -> str:
    """Text that roff prints as it stands: no backslash, no request, no hyphen of its own."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in plain.split("\n"))
