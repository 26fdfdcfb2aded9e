package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Removes trees that a user makes to harm the process that removes them, and names that are not
 * text.
 */
@Timeout(180)
class TreeRemoverBoundsTest {
  private static final List<String> NAMES = List.of("staging", "alice", "shuffle");
  private static final int DEEPEST = 256;

  @TempDir
  private Path root;

  /** Empties the directories of alice in a process of its own, which has 256 MB. */
  static final class InAProcess {
    private InAProcess() {}

    /** ROOT, DEEPEST; prints the number of files removed, and what stayed. */
    public static void main(String[] args) throws Exception {
      TreeRemover remover = new TreeRemover(Integer.parseInt(args[1]));
      remover.empty(Path.of(args[0]), NAMES);
      Forked.tell(remover.files());
      Forked.tell(remover.stranger().orElse("nothing"));
    }
  }

  private Path shuffle() throws IOException {
    return Files.createDirectories(root.resolve(String.join("/", NAMES)));
  }

  /** The path of each of the entries that stay would take 64 KB. */
  @Test
  void S5_deepLongNamesWithManyEntriesThatStayTakeLittleMemory() throws Exception {
    Path own = shuffle();
    Files.writeString(own.resolve("packed.mof"), "x");
    Descriptors calls = new Descriptors();
    String longest = "d".repeat(255);
    Descriptor at = calls.follow(own);
    try {
      for (int level = 0; level < DEEPEST; level++) {
        Files.createDirectory(at.path().resolve(longest));
        Descriptor below = calls.entry(at, longest, Path.of("below"));
        at.close();
        at = below;
      }
      for (int i = 0; i < 10_000; i++) {
        Files.createDirectory(at.path().resolve("stays" + i));
      }
      try (Forked process =
          Forked.start(InAProcess.class, Map.of(), root.toString(), "" + DEEPEST)) {
        assertEquals("1", process.line(), "files removed; none when it had too little memory");
        assertTrue(process.line().endsWith("is deeper than 256 directories"));
      }
    } finally {
      at.close();
      try (Descriptor above = calls.follow(root)) {
        new TreeRemover(1000, false).remove(above, NAMES.get(0), root.resolve(NAMES.get(0)));
      }
    }
  }

  @Test
  void S5_anyNumberOfEntriesThatStayLeavesNothingElseBehind() throws Exception {
    Path own = shuffle();
    for (int i = 0; i < 16_000; i++) {
      Files.createDirectory(own.resolve("stays" + i));
    }
    for (int i = 0; i < 6_000; i++) {
      Files.createFile(own.resolve("own" + i));
    }
    TreeRemover remover = new TreeRemover(0);
    remover.empty(root, NAMES);
    assertEquals(6_000, remover.files());
    assertTrue(remover.stranger().orElse("").endsWith("is deeper than 0 directories"));
    try (var left = Files.list(own)) {
      assertEquals(16_000, left.count());
    }
  }

  @Test
  void anOwnTreeOfManyBatchesGoesWhole() throws Exception {
    Path own = shuffle();
    for (int directory = 0; directory < 3; directory++) {
      Path below = Files.createDirectory(own.resolve("d" + directory));
      for (int i = 0; i < 2_500; i++) {
        Files.createFile(below.resolve("own" + i));
      }
    }
    TreeRemover remover = new TreeRemover(16);
    remover.empty(root, NAMES);
    assertEquals(7_500, remover.files());
    assertFalse(remover.stranger().isPresent());
    try (var left = Files.list(own)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void S5_whatIsMountedBelowStays() throws Exception {
    assumeTrue(Forked.maySeeOtherMounts(), "run as root: a file system is mounted");
    Path own = shuffle();
    Files.createFile(own.resolve("packed.mof"));
    Path mounted = Files.createDirectory(own.resolve("mounted"));
    try (Forked process = Forked.seeingMemoryAt(
        mounted, InAProcess.class, root.toRealPath().toString(), "16")) {
      assertEquals("1", process.line(), "files removed");
      assertEquals("mounted lies on another file system", process.line());
    }
    assertTrue(Files.exists(mounted));
  }

  @Test
  void S5_whatAnotherClientRemovesMeanwhileIsGone() throws Exception {
    Path own = shuffle();
    for (String name : new String[] {"attempt_m_0", "directory-estale", "directory-enoent", "unlisted"}) {
      Files.createDirectory(own.resolve(name));
    }
    for (String name : new String[] {"packed.mof", "file-estale", "file-enoent"}) {
      Files.createFile(own.resolve("attempt_m_0").resolve(name));
    }
    try (Forked process = Forked.start(InAProcess.class,
        Map.of("LD_PRELOAD", Forked.library("gone").toString()), root.toString(), "16")) {
      assertEquals("1", process.line());
      assertEquals("nothing", process.line());
    }
    try (var left = Files.list(own)) {
      assertEquals(0, left.count());
    }
  }

  /** Nothing has the name when it is to be removed, and another writer's file has it right after. */
  @Test
  void S5_aFileThatTakesTheNameOfOneThatIsGoneStays() throws Exception {
    Path file = Files.createFile(shuffle().resolve("made meanwhile"));
    Path directory = Files.createDirectory(shuffle().resolve("directory"));
    Descriptors gone = new Descriptors((Libc.Calls) Proxy.newProxyInstance(
        Libc.Calls.class.getClassLoader(), new Class<?>[] {Libc.Calls.class},
        (proxy, method, arguments) -> {
          throw new LastErrorException(Errno.ENOENT.number());
        }));
    for (Path each : new Path[] {file, directory}) {
      assertThrows(NoSuchFileException.class, () -> Directories.remove(gone, each));
      assertTrue(Files.exists(each));
      Directories.remove(each);
      assertThrows(NoSuchFileException.class, () -> Directories.remove(each));
    }
  }

  /** In each locale the two own names are, as a string turned into bytes, those of the stranger. */
  @ParameterizedTest
  @ValueSource(strings = {"C.UTF-8", "C"})
  void S5_aNameThatIsNotTextIsRemovedByItsBytes(String locale) throws Exception {
    assumeTrue(Files.getAttribute(root, "unix:uid").equals(0), "run as root: files are given away");
    Path own = shuffle();
    for (String name : new String[] {"caf%E9", "a%E9"}) {
      Files.createFile(raw(own, name));
    }
    String[] theirs = {"caf%EF%BF%BD", "a%EF%BF%BD", "caf%3F", "a%3F"};
    for (String name : theirs) {
      Files.setAttribute(Files.createFile(raw(own, name)), "unix:uid", 12345);
    }
    try (Forked process =
        Forked.start(InAProcess.class, Map.of("LC_ALL", locale), root.toString(), "16")) {
      assertEquals("2", process.line());
      assertTrue(process.line().contains("12345"));
    }
    for (String name : theirs) {
      assertTrue(Files.exists(raw(own, name)), name);
    }
    try (var left = Files.list(own)) {
      assertEquals(theirs.length, left.count());
    }
  }

  @Test
  void S5_aPathThatIsNotTextIsUnlinkedByItsBytes() throws Exception {
    Path own = shuffle();
    Path file = Files.createFile(raw(own, "caf%E9"));
    Path other = Files.createFile(raw(own, "caf%EF%BF%BD"));
    Libc.unlink(file);
    assertFalse(Files.exists(file));
    Files.createFile(file);
    Directories.remove(file);
    assertFalse(Files.exists(file));
    assertTrue(Files.exists(other));
    Path directory = Files.createDirectory(raw(own, "dir%E9"));
    Directories.remove(directory);
    assertFalse(Files.exists(directory));
  }

  private static Path raw(Path directory, String encoded) {
    return Path.of(URI.create("file://" + directory + "/" + encoded));
  }
}
