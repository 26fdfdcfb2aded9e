"""Reads the words of `spark-submit`: its options, the application, and what they set. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

# spark-submit's options (SparkSubmitOptionParser): all others have a value.
_WITHOUT_VALUE = {
    *("--help", "-h", "--supervise", "--usage-error", "--verbose", "-v", "--version"),
    "--load-spark-defaults",
}
_CONF = ("--conf", "-c")
# SparkSubmitArguments: each wins over --conf of its key.
_KEYS = {
    "--master": "spark.master",
    "--deploy-mode": "spark.submit.deployMode",
    "--driver-memory": "spark.driver.memory",
    "--driver-cores": "spark.driver.cores",
    "--executor-memory": "spark.executor.memory",
    "--executor-cores": "spark.executor.cores",
}
# SparkSubmit: a shell or a class of Spark's own jars, not a file.
_NO_FILE = ("spark-shell", "pyspark-shell", "sparkr-shell", "connect-shell", "spark-internal")


@dataclass(frozen=True)
class SubmitWords:
    """The options before the application, in order, with their values; the application if named.

    An option without a value has an empty one.
    """

    options: tuple[tuple[str, str], ...]
    application: str | None

    def values(self, option: str) -> list[str]:
        """Returns the values of an option, in order; an empty list where it is not there."""
        return [value for name, value in self.options if name == option]

    def properties(self) -> dict[str, str]:
        """Returns the properties that `--conf` and the options for sizes, master and mode set."""
        pairs = (value.partition("=") for name, value in self.options if name in _CONF)
        by_option = {_KEYS[name]: value for name, value in self.options if name in _KEYS}
        return {key: value for key, _, value in pairs} | by_option

    @property
    def is_python(self) -> bool:
        """Returns whether the application is one of PySpark."""
        named = self.application or ""
        return named.endswith(".py") or named == "pyspark-shell"

    def local_application(self) -> Path | None:
        """Returns the file of this machine that the application names; None if it names none.

        Spark reads a word without a scheme, and a URL with `file:`, on the machine that submits
        (Utils.resolveURI); Lustre's mount is such a path too. It finds other URLs by itself:
        `lustre:///`, `hdfs://`, `https://`, and `local:`, which is a path of every node. Its own
        shells and classes (`pyspark-shell`, `spark-internal`) are no files.
        """
        if self.application is None or self.application in _NO_FILE:
            return None
        try:
            url = urlsplit(self.application)
        except ValueError:
            return Path(self.application)
        if url.scheme == "file":
            return Path(unquote(url.path))
        if url.scheme:
            return None
        plain = Path(self.application)
        # What follows a # is the name of a link to the file.
        return plain if plain.exists() else Path(self.application.partition("#")[0])


def read_words(words: Sequence[str]) -> SubmitWords:
    """Splits the words of `spark-submit` as its SparkSubmitOptionParser does.

    The application's own words are left out. An unknown option counts as one with a value.
    """
    options, at = [], 0
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = words[at].partition("=")
        if not equals and option not in _WITHOUT_VALUE:
            at += 1
            value = "".join(words[at : at + 1])
        options.append((option, value))
        at += 1
    return SubmitWords(tuple(options), words[at] if at < len(words) else None)
