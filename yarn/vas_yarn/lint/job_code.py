"""Finds in a job's jar what a task must not do in a JVM that runs several tasks."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.sizes import format_size
from vas_yarn.job_jar import BROKEN_JAR, open_jar, read_member
from vas_yarn.lint.class_file import PUT_STATIC, ClassFile, MemberUse, NotAClass

# A job's own classes have some megabytes; a jar of everything that it uses, some ten.
_MOST_BYTES = 32 << 20
_MOST_FINDINGS = 10_000
# A name may have 65,535 bytes.
_LONGEST_SHOWN = 500
_THREAD = "java/lang/Thread"
_START = ("start", "()V")
# Both run in the client: main() starts the program, and Tool.run() submits the job.
_OF_CLIENT = (("main", "([Ljava/lang/String;)V"), ("run", "([Ljava/lang/String;)I"))
# Scala's compiler sets it once, where the object is made.
_OF_COMPILERS = ("MODULE$",)


@dataclass(frozen=True)
class Trap:
    """A kind of finding: why it does harm in a JVM that runs several tasks, and the fix."""

    why: str
    fix: str


EXIT = Trap("ends the JVM, and the attempt fails", "throw an exception, or return")
STATIC = Trap(
    "the next task in the JVM finds the value that this one left",
    "keep it in the object, or set it in setup()",
)
SETTING = Trap("the next task in the JVM finds it changed", "pass the value where it is needed")
STARTED = Trap(
    "a thread that is still there after its task ends the JVM, a daemon goes on beside the next"
    " task",
    "end it in cleanup() or close()",
)
KEPT = Trap(STATIC.why, "remove() it in cleanup() or close()")
ONCE = Trap("is an error in the next task: a JVM takes one", "set java.protocol.handler.pkgs")
HOOK = Trap(
    "runs when the JVM ends, after other tasks", "do the work in cleanup() or close() instead"
)

_CALLS = {
    ("java/lang/System", "exit"): EXIT,
    ("java/lang/Runtime", "exit"): EXIT,
    ("java/lang/Runtime", "halt"): EXIT,
    ("org/apache/hadoop/util/ExitUtil", "terminate"): EXIT,
    ("org/apache/hadoop/util/ExitUtil", "halt"): EXIT,
    ("java/lang/System", "setProperty"): SETTING,
    ("java/lang/System", "setProperties"): SETTING,
    ("java/lang/System", "clearProperty"): SETTING,
    ("java/lang/System", "setIn"): SETTING,
    ("java/lang/System", "setOut"): SETTING,
    ("java/lang/System", "setErr"): SETTING,
    ("java/util/Locale", "setDefault"): SETTING,
    ("java/util/TimeZone", "setDefault"): SETTING,
    ("java/lang/Thread", "setDefaultUncaughtExceptionHandler"): SETTING,
    ("java/security/Security", "addProvider"): SETTING,
    ("java/security/Security", "insertProviderAt"): SETTING,
    ("java/security/Security", "setProperty"): SETTING,
    ("org/apache/hadoop/conf/Configuration", "addDefaultResource"): SETTING,
    ("org/apache/hadoop/security/UserGroupInformation", "setConfiguration"): SETTING,
    ("org/apache/hadoop/security/UserGroupInformation", "setLoginUser"): SETTING,
    ("java/net/URL", "setURLStreamHandlerFactory"): ONCE,
    ("java/lang/ThreadLocal", "set"): KEPT,
    ("java/lang/Runtime", "addShutdownHook"): HOOK,
    ("java/util/Timer", "<init>"): STARTED,
    ("java/util/concurrent/ThreadPoolExecutor", "<init>"): STARTED,
    ("java/util/concurrent/ScheduledThreadPoolExecutor", "<init>"): STARTED,
    ("java/util/concurrent/ForkJoinPool", "<init>"): STARTED,
}
_FACTORIES = "java/util/concurrent/Executors"


@dataclass(frozen=True)
class CodeFinding:
    """A place in a job's code, the member that it uses, and the trap."""

    class_name: str
    method: str
    """Empty where the class names the member by a handle, as `System::exit` does."""
    what: str
    trap: Trap

    def as_json(self) -> dict[str, str]:
        """Returns the row as `vas job lint --json` prints it."""
        place = {"class": self.class_name, "method": self.method, "what": self.what}
        return place | {"why": self.trap.why, "fix": self.trap.fix}


@dataclass(frozen=True)
class JarCode:
    """The findings in a jar, by class and method, and the number of classes that were read."""

    findings: tuple[CodeFinding, ...]
    classes: int
    inner_jars: int
    """Jars in the jar's lib/, which are not read."""


def read_jar(jar: Path, packages: tuple[str, ...] = ()) -> JarCode:
    """Returns the findings in a jar's classes, or only in those of `packages` and below.

    Raises BadInput if the jar or a class cannot be read.
    """
    reader = _JarReader(jar, tuple(f"{name.replace('.', '/').rstrip('/')}/" for name in packages))
    try:
        with open_jar(jar) as archive:
            reader.read(archive)
    except BROKEN_JAR as wrong:
        what = f"cannot be read as a jar: {str(wrong) or 'too little memory'}"
        raise BadInput(what, where=str(jar), hint="name the jar of a job") from wrong
    return JarCode(tuple(reader.findings()), reader.classes, reader.inner_jars)


class _JarReader:
    """Gathers what the classes of a jar use; a class may extend another that comes later."""

    def __init__(self, jar: Path, packages: tuple[str, ...]) -> None:
        self._jar = jar
        self._packages = packages
        self._parents: dict[str, str] = {}
        self._uses: dict[tuple[str, MemberUse], None] = {}
        self.classes = self.inner_jars = 0

    def read(self, archive: zipfile.ZipFile) -> None:
        """Reads each class. Raises BadInput where one is none, and for a jar beyond the limits."""
        total = 0
        for member in archive.infolist():
            name = member.filename
            self.inner_jars += name.startswith("lib/") and name.endswith(".jar")
            if not name.endswith(".class"):
                continue
            data = read_member(archive, member, self._jar)
            total += len(data)
            if total > _MOST_BYTES:
                what = f"its classes have more than {format_size(_MOST_BYTES)}"
                hint = "lint the jar of the job's own classes"
                raise BadInput(what, where=str(self._jar), hint=hint)
            try:
                self._look_at(ClassFile(data))
            except NotAClass as wrong:
                hint = "build the jar again"
                raise BadInput(f"{name} {wrong}", where=str(self._jar), hint=hint) from wrong

    def _look_at(self, found: ClassFile) -> None:
        self._parents[found.name] = found.parent
        if self._packages and not found.name.startswith(self._packages):
            return
        self.classes += 1
        for use in found.uses():
            if (use.method, use.descriptor) not in _OF_CLIENT and _may_trap(found, use):
                self._uses[found.name, use] = None
            if len(self._uses) > _MOST_FINDINGS:
                what = f"has more than {_MOST_FINDINGS} places to look at"
                raise BadInput(what, where=str(self._jar), hint="name your own by --package")

    def findings(self) -> Iterator[CodeFinding]:
        """Yields the findings, by class and method."""
        threads = {_THREAD: True}
        rows: dict[CodeFinding, None] = {}
        for name, use in self._uses:
            trap = _CALLS.get((use.member.owner, use.member.name), STARTED)
            if use.opcode == PUT_STATIC:
                trap = STATIC
            elif _is_start(use) and not self._is_thread(use.member.owner, threads):
                continue
            what = f"{_dotted(use.member.owner)}.{_dotted(use.member.name)}"
            rows[CodeFinding(_dotted(name), _dotted(use.method), what, trap)] = None
        yield from sorted(rows, key=lambda row: (row.class_name, row.method, row.what))

    def _is_thread(self, name: str, known: dict[str, bool]) -> bool:
        passed = []
        while name not in known and name in self._parents:
            passed.append(name)
            known[name] = False  # Also ends a circle.
            name = self._parents[name]
        answer = known.get(name, False)
        known.update(dict.fromkeys(passed, answer))
        return answer


def _may_trap(found: ClassFile, use: MemberUse) -> bool:
    member = use.member
    if use.opcode == PUT_STATIC:
        of_compiler = member.owner == found.name and member.name in found.synthetic_fields
        return use.method != "<clinit>" and not of_compiler and member.name not in _OF_COMPILERS
    if (member.owner, member.name) in _CALLS or _is_start(use):
        return True
    return member.owner == _FACTORIES and member.name.startswith("new")


def _is_start(use: MemberUse) -> bool:
    return (use.member.name, use.member.descriptor) == _START


def _dotted(name: str) -> str:
    return name[:_LONGEST_SHOWN].replace("/", ".")
