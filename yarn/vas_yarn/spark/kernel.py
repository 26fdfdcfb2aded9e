"""Writes a kernel of Jupyter that starts PySpark with a site's properties."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.files import write_atomically
from vas_core.process import run
from vas_yarn.spark.installation import SparkInstallation
from vas_yarn.spark.properties import SparkProperty, as_file

NAME = "vas-spark"
_PROPERTIES = "spark.conf"


@dataclass(frozen=True)
class SparkKernel:
    """A kernel: the Python that has ipykernel, a Spark, its properties, and the site's files."""

    python: Path
    spark: SparkInstallation
    properties: list[SparkProperty]
    configuration: str
    cluster: Path
    site: str

    def write(self, directory: Path) -> None:
        """Writes `kernel.json` and the properties it names. Raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(directory / _PROPERTIES, as_file(self.properties))
        text = json.dumps(self._specification(directory), indent=1) + "\n"
        write_atomically(directory / "kernel.json", text)

    def _libraries(self) -> dict[str, str]:
        """The variable by which a Python that has no pyspark of its own finds this Spark's."""
        if self.python == self.spark.python:
            return {}
        found = sorted((self.spark.home.absolute() / "python/lib").glob("*.zip"))
        return {"PYTHONPATH": ":".join(map(str, found))}

    def _specification(self, directory: Path) -> dict[str, object]:
        file = str(directory / _PROPERTIES)
        return {
            "argv": [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": f"PySpark on {self.site}",
            "language": "python",
            "env": {
                "SPARK_HOME": str(self.spark.home.absolute()),
                "HADOOP_CONF_DIR": str(Path(self.configuration).absolute()),
                "VAS_CLUSTER": str(self.cluster.absolute()),
                # pyspark splits it as a shell would.
                "PYSPARK_SUBMIT_ARGS": shlex.join(["--properties-file", file, "pyspark-shell"]),
                **self._libraries(),
            },
        }


def kernel_directory() -> Path:
    """Returns the kernel's directory where Jupyter looks for a user's own kernels."""
    data = os.environ.get("JUPYTER_DATA_DIR") or Path.home() / ".local/share/jupyter"
    return Path(data) / "kernels" / NAME


def check_kernel_python(python: Path) -> None:
    """Raises NotHere if a Python has no ipykernel, or is not a Python."""
    # A Python looks into the current directory first, which may be other users' too.
    if run([python, "-c", "import ipykernel"], check=False, cwd=Path("/")).status:
        hint = f"{python} -m pip install ipykernel; or name another Python by --python"
        raise NotHere("has no ipykernel", where=str(python), hint=hint)
