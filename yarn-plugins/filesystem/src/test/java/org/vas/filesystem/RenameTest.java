package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Renames to one name, on a mount that takes renameat2's flag and on those that refuse it. */
class RenameTest {
  private static final int CALLERS = 8;

  /** The answers that a mount gives to renameat2's flag and to link(2). */
  enum Answers implements ClientCalls {
    /** The kernel of this machine, on its own disk. */
    FLAG {
      @Override
      public void renameNoReplace(java.nio.file.Path from, java.nio.file.Path to)
          throws ErrnoException {
        new Libc().renameNoReplace(from, to);
      }
    },
    /** A Lustre client: EINVAL. */
    LINK,
    /** A Lustre client, where fs.protected_hardlinks refuses other users' files. */
    NEITHER {
      @Override
      public void link(java.nio.file.Path from, java.nio.file.Path to) throws ErrnoException {
        throw new ErrnoException(to, "link from " + from, Errno.EPERM);
      }
    };

    @Override
    public void renameNoReplace(java.nio.file.Path from, java.nio.file.Path to)
        throws ErrnoException {
      TestMount.MDS.renameNoReplace(from, to);
    }

    @Override
    public byte[] get(java.nio.file.Path file, String name) throws ErrnoException {
      return TestMount.MDS.get(file, name);
    }

    @Override
    public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
      TestMount.MDS.set(file, name, value);
    }

    @Override
    public void mknod(java.nio.file.Path file, int mode) throws IOException {
      TestMount.MDS.mknod(file, mode);
    }
  }

  private Configuration conf;

  @BeforeEach
  void mount() {
    conf = TestMount.configuration();
  }

  private java.nio.file.Path local(String name) {
    return TestMount.mount(conf).resolve(name);
  }

  private LustreFileSystem filesOn(Answers answers) throws IOException {
    LustreFileSystem files = new LustreFileSystem(answers);
    files.initialize(TestMount.ROOT_URI, conf);
    return files;
  }

  private List<String> names() throws IOException {
    try (Stream<java.nio.file.Path> all = Files.list(TestMount.mount(conf))) {
      return all.map(file -> String.valueOf(file.getFileName())).sorted()
          .collect(Collectors.toList());
    }
  }

  @ParameterizedTest
  @EnumSource
  void R1_ofManyThatRenameFilesToOneNameOneWins(Answers answers) throws Exception {
    LustreFileSystem files = filesOn(answers);
    for (int round = 0; round < 100; round++) {
      for (int i = 0; i < CALLERS; i++) {
        Files.writeString(local("source" + i), "bytes of " + i);
      }
      List<Integer> won = winners(i -> files.rename(new Path("/source" + i), new Path("/target")));
      assertEquals(1, won.size(), "of " + CALLERS + " won: " + won);
      assertEquals("bytes of " + won.get(0), Files.readString(local("target")));
      assertFalse(Files.exists(local("source" + won.get(0))), "the winner has its old name too");
      assertEquals(CALLERS, names().size(), "nothing is lost, and nothing is left");
      Files.delete(local("target"));
    }
  }

  @Test
  void R1_ofManyProcessesThatRenameFilesToOneNameOneWins() throws Exception {
    String mount = TestMount.mount(conf).toString();
    try (Forked one = Forked.start(Renaming.class, Map.of(), mount, "300", "one");
        Forked two = Forked.start(Renaming.class, Map.of(), mount, "300", "two");
        Forked three = Forked.start(Renaming.class, Map.of(), mount, "300", "three")) {
      int won = 0;
      for (Forked process : List.of(one, two, three)) {
        won += Integer.parseInt(process.line());
      }
      assertEquals(300, won);
      assertEquals(900, names().size(), "nothing is lost, and nothing is left");
    }
  }

  @ParameterizedTest
  @EnumSource
  void R1_ofManyThatRenameDirectoriesToOneNameOneWins(Answers answers) throws Exception {
    NoReplace renames = new NoReplace(answers);
    for (int round = 0; round < 100; round++) {
      java.nio.file.Path target = local("target" + round);
      for (int i = 0; i < CALLERS; i++) {
        Files.createDirectory(local("source" + round + "-" + i));
        Files.writeString(local("source" + round + "-" + i + "/part"), "bytes of " + i);
      }
      String prefix = "source" + round + "-";
      List<Integer> won = winners(i -> isDone(() -> renames.rename(local(prefix + i), target)));
      assertEquals(1, won.size(), "of " + CALLERS + " won: " + won);
      assertEquals("bytes of " + won.get(0), Files.readString(target.resolve("part")));
      for (int i = 0; i < CALLERS; i++) {
        assertEquals(i != won.get(0), Files.exists(local(prefix + i + "/part")));
      }
    }
  }

  /** What comes between the look at the name and the rename: only an empty directory gives way. */
  @Test
  void S5_aRenameBelowItselfIsRefusedByTheHandlesToo() throws Exception {
    Files.createDirectories(local("a/b"));
    Mounted mounted = Mounted.configured(conf, Map.of(), TestMount.MDS);
    for (String below : List.of("a/new", "a/b/new", "a/b")) {
      assertTrue(mounted.<Boolean>rename(local("a"), local(below), false,
          (from, to) -> from.startsWith(Descriptor.ALL) && to.startsWith(Descriptor.ALL)), below);
    }
    for (Options.Rename option : Options.Rename.values()) {
      assertThrows(IOException.class, () -> TestMount.fileContext(conf)
          .rename(new Path("/a"), new Path("/a/b/new"), option));
    }
    assertTrue(Files.isDirectory(local("a/b")));
  }

  @Test
  void R1_anEmptyDirectoryIsAllThatADirectoryReplaces() throws Exception {
    Files.createDirectories(local("a/b"));
    Files.createDirectory(local("empty"));
    Files.createDirectories(local("full/c"));
    Files.createFile(local("file"));
    Files.createSymbolicLink(local("link"), java.nio.file.Path.of("empty"));
    for (String taken : List.of("full", "file", "link")) {
      assertThrows(ErrnoException.class,
          () -> Libc.renameDirectory(local("a"), local(taken)), taken);
    }
    assertThrows(ErrnoException.class,
        () -> Libc.renameDirectory(local("file"), local("absent")), "exchanged for a file");
    assertThrows(ErrnoException.class,
        () -> new NoReplace(Answers.LINK).rename(local("a"), local("empty")));
    Libc.renameDirectory(local("a"), local("empty"));
    assertEquals(List.of("empty", "file", "full", "link"), names());
    assertTrue(Files.exists(local("empty/b")) && Files.exists(local("full/c")));
  }

  @ParameterizedTest
  @EnumSource
  void R1_ofManyThatRenameOneFileElsewhereOneWinsAndNothingIsLost(Answers answers)
      throws Exception {
    LustreFileSystem files = filesOn(answers);
    for (int round = 0; round < 100; round++) {
      Files.writeString(local("source"), "bytes");
      List<Integer> won = winners(i -> files.rename(new Path("/source"), new Path("/target" + i)));
      assertEquals(1, won.size(), "of " + CALLERS + " won: " + won);
      assertEquals("bytes", Files.readString(local("target" + won.get(0))));
      assertFalse(Files.exists(local("source")));
      for (String name : names()) {
        Files.delete(local(name));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void R1_aRenameThatDiedBetweenLinkAndUnlinkIsFinishedByTheNext(Answers answers)
      throws Exception {
    LustreFileSystem files = filesOn(answers);
    Files.writeString(local("source"), "bytes");
    Files.createLink(local("target"), local("source"));
    assertTrue(files.rename(new Path("/source"), new Path("/target")));
    assertEquals(List.of("target"), names());
    assertEquals("bytes", Files.readString(local("target")));
    for (Options.Rename option : Options.Rename.values()) {
      Files.createLink(local("source"), local("target"));
      FileContext context = TestMount.fileContext(conf);
      context.rename(new Path("/source"), new Path("/target"), option);
      assertEquals(List.of("target"), names(), option.toString());
    }
  }

  /** Between link and unlink another writer may give the old name to a file of its own. */
  @Test
  void R1_aFileThatTakesTheOldNameMeanwhileStays() throws Exception {
    Files.writeString(local("source"), "bytes");
    Files.writeString(local("other"), "another's");
    ClientCalls calls = new FakeMds() {
      @Override
      public void link(java.nio.file.Path from, java.nio.file.Path to) throws ErrnoException {
        new Libc().link(from, to);
        Libc.rename(local("other"), from);
      }
    };
    new NoReplace(calls).rename(local("source"), local("target"));
    assertEquals("bytes", Files.readString(local("target")));
    assertEquals("another's", Files.readString(local("source")));
  }

  /** One name that two paths lead to is no rename that died: to unlink one loses the file. */
  @ParameterizedTest
  @EnumSource
  void R1_aNameReachedByTwoPathsIsKept(Answers answers) throws Exception {
    LustreFileSystem files = filesOn(answers);
    Files.createDirectory(local("d"));
    Files.createSymbolicLink(local("link"), java.nio.file.Path.of("d"));
    Files.writeString(local("d/file"), "bytes");
    Files.createLink(local("elsewhere"), local("d/file"));
    assertFalse(files.rename(new Path("/d/file"), new Path("/link/file")));
    assertEquals("bytes", Files.readString(local("d/file")));
  }

  /** Whichever name leads to a directory, nothing is moved below itself, and the answer is no error. */
  @ParameterizedTest
  @CsvSource({
    "/a/b, /a/bc, true, /a/bc", "/a/b, /a/b/c, false, /a/b", "/a/b, /a/b/missing/c, false, /a/b",
    "/a/./b, //a//b/c, false, /a/b", "/a/../a/b, /a/./b/../bc, true, /a/bc",
    "/a/b, /a, true, /a/b", "/a/b, /link, false, /a/b", "/a/b, /link/b/c, false, /a/b",
    "/a/b, /link/b, false, /a/b", "/link/b, /a/b/c, false, /a/b", "/link/b, /a/bc, true, /a/bc",
    "/a/f, /link/f, false, /a/f", "/a/f, /a/f, true, /a/f", "/a/f, /a, true, /a/f"})
  void R1_belowItselfIsToldByWhatIsThere(
      String from, String to, boolean renamed, String left) throws IOException {
    Configuration conf = TestMount.configuration();
    java.nio.file.Path mount = TestMount.mount(conf);
    Files.createDirectories(mount.resolve("a/b"));
    Files.writeString(mount.resolve("a/f"), "x");
    Files.createSymbolicLink(mount.resolve("link"), mount.resolve("a"));
    try (LustreFileSystem files = new TestMount.OnFakeMds()) {
      files.initialize(TestMount.ROOT_URI, conf);
      assertEquals(renamed, files.rename(new Path(from), new Path(to)));
    }
    assertTrue(Files.exists(mount.resolve(left.substring(1))));
    try (var names = Files.list(mount.resolve("a"))) {
      assertEquals(2, names.count());
    }
  }

  @Test
  void R1_aRenameWithoutHardLinksLeavesNoClaimBehind() throws Exception {
    LustreFileSystem files = filesOn(Answers.NEITHER);
    Files.writeString(local("a"), "bytes");
    Files.createSymbolicLink(local("to a"), java.nio.file.Path.of("a"));
    assertTrue(files.rename(new Path("/a"), new Path("/b")));
    assertTrue(files.rename(new Path("/to a"), new Path("/to nothing")));
    assertFalse(files.rename(new Path("/b"), new Path("/missing/b")));
    assertEquals(List.of("b", "to nothing"), names());
    assertEquals("bytes", Files.readString(local("b")));
  }

  @Test
  void N3_aRenameThatLeavesItsProjectSaysSo() {
    IOException wrong = new ErrnoException(local("b"), "rename from a", Errno.EXDEV);
    assertTrue(wrong.getMessage().contains("project quota"), wrong.getMessage());
    assertTrue(wrong.getMessage().contains("copy and delete"), wrong.getMessage());
  }

  /** A rename to another file system, which is what this machine has for another project. */
  @ParameterizedTest
  @EnumSource
  void N3_whateverCallFindsOutSaysSoAndLeavesNothing(Answers answers) throws Exception {
    java.nio.file.Path memory = java.nio.file.Path.of("/dev/shm");
    assumeTrue(Files.isWritable(memory) && !Files.getFileStore(memory)
        .equals(Files.getFileStore(TestMount.mount(conf))), "one file system has all");
    conf.set("vas.lustre.links", "all");
    java.nio.file.Path elsewhere = Files.createTempDirectory(memory, "vas-rename");
    try {
      Files.createSymbolicLink(local("elsewhere"), elsewhere);
      Files.createFile(local("file"));
      Files.createDirectory(local("dir"));
      Path to = new Path("/elsewhere/new");
      for (Path from : List.of(new Path("/file"), new Path("/dir"))) {
        assertSaysSo(() -> filesOn(answers).rename(from, to));
        for (Options.Rename option : Options.Rename.values()) {
          assertSaysSo(() -> TestMount.fileContext(conf).rename(from, to, option));
        }
      }
      assertEquals(0, elsewhere.toFile().list().length);
      assertEquals(List.of("dir", "elsewhere", "file"), names());
    } finally {
      Files.delete(elsewhere);
    }
  }

  private static void assertSaysSo(Executable call) {
    String said = assertThrows(IOException.class, call).getMessage();
    assertTrue(said.contains("EXDEV") && said.contains("project quota"), said);
  }

  @FunctionalInterface
  private interface Attempt {
    boolean of(int caller) throws Exception;
  }

  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }

  private static boolean isDone(Step step) throws IOException {
    try {
      step.run();
      return true;
    } catch (ErrnoException e) {
      String errno = e.errno().map(Errno::name).orElse("").toLowerCase(Locale.ROOT);
      assertTrue(List.of("eexist", "enotempty").contains(errno), e.getMessage());
      return false;
    }
  }

  /** The callers that were told of success, of {@value #CALLERS} that start together. */
  private static List<Integer> winners(Attempt attempt) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
    CyclicBarrier start = new CyclicBarrier(CALLERS);
    try {
      List<Future<Boolean>> answers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        int caller = i;
        answers.add(threads.submit((Callable<Boolean>) () -> {
          start.await();
          return attempt.of(caller);
        }));
      }
      List<Integer> won = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        if (answers.get(i).get()) {
          won.add(i);
        }
      }
      return won;
    } finally {
      threads.shutdownNow();
    }
  }
}
