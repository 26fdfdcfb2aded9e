"""Lists every file name of VAS that others can foresee, such as a lock's.

Whoever may write into the directory can put a link, a FIFO or a device there first. So each name
is opened by `vas_core.safe_open`, and a test plants each of these things at each name of `ALL`:
a new name belongs here, not into the module that uses it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PredictableName:
    """A kind of file name: what it is for, and its form with the parts that vary in braces."""

    what: str
    form: str
    is_directory: bool = False

    def of(self, **parts: object) -> str:
        """Returns the name with its parts filled in. Raises KeyError for a part not given."""
        return self.form.format(**parts)


# In directories that other users may write: a project's, and YARN's staging root.
PUT_JOURNAL = PredictableName("journal of a put", ".vas-put-{key}.journal")
PUT_DATA = PredictableName("data of an unfinished put", ".vas-put-{key}-{token}")
JANITOR = PredictableName("directory of the janitor", ".vas-janitor", is_directory=True)
QUARANTINE_PREFIX = ".vas-quarantine"
QUARANTINED = PredictableName(
    "job directory in quarantine", QUARANTINE_PREFIX + ".{job}.{moved_ms}", is_directory=True
)
BENCH_MARK = PredictableName("mark of a benchmark's directory", ".vas-bench")
# In directories of one user or of root alone.
JANITOR_MEMORY = PredictableName("memory of the janitor", "over.json")
JANITOR_MEMORY_NEW = PredictableName("memory of the janitor, being written", "over.json.tmp")
JOURNAL_LOCK = PredictableName("lock of a journal", "{name}.lock")
HOST_JOURNAL = PredictableName("journal of a host's original values", "journal.json")
IMMOVABLE = PredictableName("list of what cannot be moved", "immovable.json")
CDS_CLASSES = PredictableName("class list of a class data archive", ".new.classes")
LAB_LOCK = PredictableName("lock of a lab", "lock")
MDS_LOCK = PredictableName("lock of the stand-in for the metadata server", "mds.lock")

ALL = (
    PUT_JOURNAL,
    PUT_DATA,
    JANITOR,
    QUARANTINED,
    BENCH_MARK,
    JANITOR_MEMORY,
    JANITOR_MEMORY_NEW,
    JOURNAL_LOCK,
    HOST_JOURNAL,
    IMMOVABLE,
    CDS_CLASSES,
    LAB_LOCK,
    MDS_LOCK,
)
