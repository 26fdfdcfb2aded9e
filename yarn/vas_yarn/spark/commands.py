"""`vas spark`: what Spark needs of a site of VAS."""

from __future__ import annotations

from pathlib import Path

import click

from vas_cluster import default_path, load_site
from vas_core.cli import json_option, note, print_json
from vas_core.errors import ExitStatus, NotHere
from vas_core.files import write_atomically
from vas_core.table import print_table
from vas_yarn.spark.here import make_events_directory, read_site
from vas_yarn.spark.installation import (
    SparkInstallation,
    find_spark,
    install_notebook,
    install_spark,
)
from vas_yarn.spark.kernel import SparkKernel, check_kernel_python, kernel_directory
from vas_yarn.spark.properties import as_file, spark_properties


@click.group()
def spark() -> None:
    """Show Spark's properties for this site, write a notebook's kernel, get Spark for a clone."""


@spark.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File to write, for spark-submit --properties-file; also makes the directory of event"
    " logs.",
)
@click.option("--no-shuffle", is_flag=True, help="Leave Spark's own shuffle on.")
@json_option
def config(out: Path | None, no_shuffle: bool, as_json: bool) -> int:
    """Print or write properties for plain spark-submit on this site.

    Each property has its reason above it. What it names is found by the site's map and its Hadoop
    configuration; without --out nothing is made.

    \b
    Examples: vas spark config
              vas spark config --out vas-spark.conf
              spark-submit --properties-file vas-spark.conf my.py

    \f
    Raises BadInput without a map or a configuration, NotHere without VAS's jars.
    """
    found = _any_spark()
    site, directory = read_site(found, "vas spark config")
    rows = spark_properties(site, shuffle=not no_shuffle)
    if as_json:
        print_json([row.as_json() for row in rows])
    if out is None:
        if not as_json:
            click.echo(as_file(rows), nl=False)
        return ExitStatus.DONE
    make_events_directory(site.events)
    write_atomically(out, as_file(rows))
    submit = found.submit if found else "spark-submit"
    note(f"{out}: written; next: HADOOP_CONF_DIR={directory} {submit} --properties-file {out}")
    return ExitStatus.DONE


def _any_spark() -> SparkInstallation | None:
    try:
        return find_spark()
    except NotHere:
        return None


@spark.command()
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    help="A Python with ipykernel. [default: that of the Spark that was found, else python3]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Directory of the kernel. [default: vas-spark among the user's kernels of Jupyter]",
)
def kernel(python: Path | None, out: Path | None) -> int:
    """Write a kernel of Jupyter: PySpark on this site.

    It has the properties of `vas spark config`.

    \b
    Example: vas spark kernel

    \f
    Raises NotHere without a Spark, or if that Python has no ipykernel.
    """
    found = find_spark()
    chosen = _absolute(python) if python else found.python
    check_kernel_python(chosen)
    site, directory = read_site(found, "vas spark kernel")
    target = (out or kernel_directory()).absolute()
    make_events_directory(site.events)
    name = load_site("name it by VAS_CLUSTER").site
    SparkKernel(
        python=chosen,
        spark=found,
        properties=spark_properties(site),
        configuration=directory,
        cluster=default_path(),
        site=name,
    ).write(target)
    note(f"{target}: written; Jupyter shows it as PySpark on {name}")
    return ExitStatus.DONE


def _absolute(program: Path) -> Path:
    """A name without a directory stays: PATH finds it. A link stays: an environment's Python is."""
    return program if len(program.parts) == 1 else program.absolute()


@spark.command()
@click.option("--notebook", is_flag=True, help="Put a notebook's libraries there too.")
@json_option
def get(notebook: bool, as_json: bool) -> int:
    """Put the pinned pyspark and VAS's jar beside this clone.

    What is there already stays. PyPI has 450 MB of it.

    \b
    Examples: ./vas spark get
              ./vas spark get --notebook

    \f
    Raises VasError if a step fails.
    """
    found = install_spark(note)
    if notebook:
        install_notebook(note)
    if as_json:
        print_json({"home": str(found.home), "why": found.why})
    else:
        print_table(("SPARK_HOME", "WHY"), [(found.home, found.why)])
    return ExitStatus.DONE
