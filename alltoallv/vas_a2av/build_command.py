"""The command `vas a2av build`."""

from __future__ import annotations

import click

from vas_a2av.building import MpiKind, build_for, installed_mpis
from vas_a2av.mpi_option import mpi_option
from vas_core.cli import json_option, print_json
from vas_core.table import print_table


@click.command()
@mpi_option("MPI to build for; default: all found.")
@json_option
def build(kind: MpiKind | None, as_json: bool) -> None:
    """Build the library for this machine's MPIs.

    libvas-a2av-pmpi.so is for LD_PRELOAD: programs need no change. libvas-a2av.so has the explicit
    API of alltoallv/include/vas_a2av.h. They are built below build/alltoallv.

    \b
    Examples: vas a2av build --mpi /opt/mpi
              vas a2av build --mpi openmpi
              mpiexec.openmpi -x LD_PRELOAD=$PWD/build/alltoallv/openmpi/libvas-a2av-pmpi.so PROGRAM
    """
    kinds = [kind] if kind else installed_mpis()
    built = {each.name: build_for(each) for each in kinds}
    rows = [
        (mpi, directory / "libvas-a2av-pmpi.so", directory / "libvas-a2av.so")
        for mpi, directory in built.items()
    ]
    if as_json:
        print_json([{"mpi": m, "preload": str(p), "library": str(lib)} for m, p, lib in rows])
        return
    print_table(("MPI", "PRELOAD", "LIBRARY"), [tuple(map(str, row)) for row in rows])
