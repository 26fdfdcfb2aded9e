"""Checks that the files that a site's variables name are on the controller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from vas_ansible.checks.finding import CheckFinding

# Variable, a key of it or "", what is looked for in it if it is a directory, who makes it.
_FILES = (
    ("vas_program_archive", "", "", "make it: `vas provision wheels FILE`"),
    ("vas_hadoop_archive", "", "", "make it: `vas provision hadoop FILE`"),
    ("vas_guest_image", "", "/image.json", "make it: `vas image build --output DIRECTORY`"),
    ("vas_hadoop_container_executor", "", "", "build it: docs/executor.md"),
    ("vas_hadoop_kerberos_keytabs", "", "", "name the directory with the keytabs"),
    ("vas_lustre_client_repository", "key", "", "get the repository's public key"),
)


def examine_files(
    node: str, variables: Mapping[str, object], exists: Callable[[str], bool]
) -> Iterator[CheckFinding]:
    """Finds absolute paths of files that are missing on the controller.

    Relative paths are skipped, as Ansible searches them in several directories.
    """
    for name, key, inside, fix in _FILES:
        value = variables.get(name)
        path = value.get(key) if isinstance(value, Mapping) else value
        if isinstance(path, str) and path.startswith("/") and not exists(path + inside):
            yield CheckFinding(node, name, f"{path}{inside} does not exist here", fix)
