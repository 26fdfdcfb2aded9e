package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/**
 * Opens one file for several writers: the one that loses gets an error, so no byte is lost
 * silently.
 */
class WritersTest {
  private static final Path FILE = new Path("/a");
  private static final String LUSTRE =
      "10.0.2.15@tcp:/lab /lustre lustre rw,%s,checksum,lazystatfs,nosync_on_close,verbose 0 0";

  private Configuration conf;
  private FileSystem files;

  @BeforeEach
  void mount() throws IOException {
    conf = TestMount.configuration();
    files = TestMount.fileSystem(conf);
  }

  private java.nio.file.Path local(String name) {
    return TestMount.mount(conf).resolve(name);
  }

  private static void assertTold(String what, Executable call) {
    String message = assertThrows(IOException.class, call).getMessage();
    assertTrue(message.contains(what), message);
  }

  private static void write(FSDataOutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void D2_aSecondAppenderIsToldWhoeverItIs() throws Exception {
    Files.writeString(local("a"), "one ");
    try (FSDataOutputStream first = files.append(FILE)) {
      assertTold(local("a") + ": is being written", () -> files.append(FILE));
      assertTold("is being written", () -> files.truncate(FILE, 1));
      write(first, "two ");
    }
    try (FSDataOutputStream next = files.append(FILE)) {
      assertEquals(8, next.getPos());
      write(next, "three");
    }
    assertEquals("one two three", Files.readString(local("a")));
  }

  @Test
  void D2_anAppenderWhoseFileIsReplacedByACreateIsToldAndTheNewBytesStay() throws Exception {
    Files.writeString(local("a"), "one ");
    FSDataOutputStream first = files.append(FILE);
    write(first, "two");
    try (FSDataOutputStream second = files.create(FILE, true)) {
      write(second, "new");
      assertTold("/a: removed or replaced by another", first::hsync);
    }
    assertTold("removed or replaced by another", first::close);
    assertEquals("new", Files.readString(local("a")));
    assertEquals(1, files.listStatus(new Path("/")).length, "nothing hidden is left");
  }

  /** flock(2) asks for no right to write. */
  @Test
  void D2_aReaderThatHoldsALockKeepsNobodyFromReplacingTheFile() throws Exception {
    Files.writeString(local("a"), "one");
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(WriterLocks.class));
    try (Descriptor reader = Descriptor.open(local("a"), Descriptor.READ)) {
      assertTrue(reader.lock(true));
      assertTold(local("a") + ": is being written: another holds its lock (a reader that locks it"
          + " by flock counts too)", () -> files.append(FILE));
      try (FSDataOutputStream out = files.create(FILE, true)) {
        write(out, "two");
      }
    }
    log.stopCapturing();
    assertEquals("two", Files.readString(local("a")));
    assertTrue(log.getOutput().contains(local("a") + ": replaced while another, writer or reader,"
        + " holds its lock"), log::getOutput);
  }

  @Test
  void D2_aFileThatIsBeingMadeIsNotAppendedTo() throws Exception {
    for (int round = 0; round < 2; round++) {
      try (FSDataOutputStream out = files.create(FILE, true)) {
        write(out, "one");
        out.flush();
        assertTold("is being written", () -> files.append(FILE));
      }
      files.append(FILE).close();
      assertEquals("one", Files.readString(local("a")));
    }
  }

  @Test
  void D2_aWriterWhoseFileIsTakenAwayIsToldAtSyncAndClose() throws Exception {
    FileContext context = TestMount.fileContext(conf);
    List<Executable> ways = new ArrayList<>();
    ways.add(() -> files.delete(FILE, false));
    ways.add(() -> context.rename(new Path("/other"), FILE, Options.Rename.OVERWRITE));
    for (Executable taken : ways) {
      Files.writeString(local("a"), "one");
      Files.writeString(local("other"), "other");
      FSDataOutputStream out = files.append(FILE);
      write(out, "two");
      assertNull(runs(taken));
      assertTold("/a: removed or replaced by another", out::hsync);
      assertTold("removed or replaced by another", out::close);
    }
    FSDataOutputStream first = files.create(FILE, true);
    write(first, "first");
    try (FSDataOutputStream second = files.create(FILE, true)) {
      write(second, "second");
    }
    assertTold("removed or replaced by another", first::close);
    assertEquals("second", Files.readString(local("a")));
  }

  private static Throwable runs(Executable call) {
    try {
      call.execute();
      return null;
    } catch (Throwable e) {
      return e;
    }
  }

  @Test
  void D2_aFileThatIsRenamedMeanwhileKeepsItsWriter() throws Exception {
    Files.writeString(local("a"), "one ");
    try (FSDataOutputStream out = files.append(FILE)) {
      assertTrue(files.rename(FILE, new Path("/b")));
      write(out, "two");
      assertTold("is being written", () -> files.append(new Path("/b")));
    }
    assertEquals("one two", Files.readString(local("b")));
  }

  @Test
  void D2_anotherProcessIsToldUntilTheWriterIsKilled() throws Exception {
    Files.writeString(local("log"), "");
    try (Forked writer = Forked.start(Appending.class, Map.of(),
        TestMount.mount(conf).toString(), "hold")) {
      assertEquals("open", writer.line());
      assertTold(local("log") + ": is being written", () -> files.append(Appending.LOG));
      writer.kill();
    }
    try (FSDataOutputStream out = files.append(Appending.LOG)) {
      write(out, "mine\n");
    }
    assertEquals(List.of("held", "mine"), Files.readAllLines(local("log")));
  }

  @Test
  void D2_ofTwoAppendingProcessesNoAcknowledgedLineIsLost() throws Exception {
    Files.writeString(local("log"), "");
    String mount = TestMount.mount(conf).toString();
    try (Forked one = Forked.start(Appending.class, Map.of(), mount, "300");
        Forked two = Forked.start(Appending.class, Map.of(), mount, "300")) {
      long acknowledged = Long.parseLong(one.line()) + Long.parseLong(two.line());
      assertEquals(acknowledged, Appending.lines(TestMount.mount(conf)));
      assertEquals(acknowledged, Files.readAllLines(local("log")).stream().distinct().count());
      assertEquals(0, one.status() + two.status());
    }
  }

  @Test
  void D2_whereLocksDoNotHoldAppendIsRefusedUnlessOneWriterIsGuaranteed() throws Exception {
    Files.writeString(local("a"), "one");
    for (String option : List.of("localflock", "noflock")) {
      LockScope scope = scope(option);
      IOException error = assertThrows(IOException.class,
          () -> new WriterLocks(false, () -> scope).append(local("a"), local("a")));
      assertEquals(local("a") + ": cannot be appended to: Lustre is mounted with " + option
          + ", so that two writers of one file would not see one another; mount it with flock, or"
          + " set vas.lustre.one-writer=true where no file ever has two", error.getMessage());
      new WriterLocks(true, () -> scope).append(local("a"), local("a")).close();
    }
    new WriterLocks(false, () -> scope("flock")).append(local("a"), local("a")).close();
  }

  /** By the file system as jobs have it, on a mount that the kernel's list calls Lustre's. */
  @ParameterizedTest
  @CsvSource({"localflock, false, false", "localflock, true, true", "flock, false, true"})
  void D2_theMountAndTheKeyDecideWhetherAJobMayAppend(String option, String guaranteed,
      boolean appends) throws Exception {
    assumeTrue(Forked.maySeeOtherMounts(), "unshare -m: the list of mounts is replaced");
    java.nio.file.Path mount = TestMount.mount(conf).toRealPath();
    Files.writeString(local("log"), "");
    java.nio.file.Path list = Files.writeString(mount.resolveSibling("mounts"),
        "s:/lab " + mount + " lustre rw," + option + " 0 0\n");
    try (Forked one = Forked.seeingMounts(list, Appending.class, mount.toString(), "1",
        guaranteed)) {
      String told = String.valueOf(one.line());
      String refused = local("log") + ": cannot be appended to: Lustre is mounted with localflock";
      assertTrue(appends ? told.equals("1") : told.startsWith(refused), told);
      assertEquals(appends ? 0 : 1, one.status());
    }
    assertEquals(appends ? 1 : 0, Appending.lines(mount));
  }

  private static LockScope scope(String option) {
    return LockScope.of(java.nio.file.Path.of("/lustre/a b"),
        List.of("/dev/sda / ext4 rw 0 0", String.format(LUSTRE, option)));
  }

  @Test
  void D2_readsHowFarLocksHoldFromTheMountsOptions() {
    assertEquals(LockScope.CLUSTER, scope("flock"));
    assertEquals(LockScope.MACHINE, scope("localflock"));
    assertEquals(LockScope.NONE, scope("noflock"));
    assertEquals(LockScope.NONE, scope("user_xattr"));
    List<String> over = List.of("/dev/sda / ext4 rw 0 0", String.format(LUSTRE, "localflock"),
        "s:/lab /lustre/a\\040b lustre rw,flock 0 0", "/dev/sdb /lustrex ext4 rw 0 0");
    assertEquals(LockScope.CLUSTER, LockScope.of(java.nio.file.Path.of("/lustre/a b/c"), over));
    assertEquals(LockScope.MACHINE, LockScope.of(java.nio.file.Path.of("/lustre/a"), over));
    assertEquals(LockScope.CLUSTER, LockScope.of(java.nio.file.Path.of("/lustrex/a"), over));
  }

  /** The name leads to another file by the time that the lock is there: that one is not locked. */
  @Test
  void D2_aFileThatLostItsNameBeforeItWasLockedIsNotAppendedTo() throws Exception {
    Files.writeString(local("a"), "old");
    Files.createLink(local("kept"), local("a"));
    Files.delete(local("a"));
    Files.writeString(local("a"), "new");
    WriterLocks locks = new WriterLocks(true, () -> LockScope.CLUSTER);
    assertTold(local("a") + ": replaced by others", () -> locks.append(local("kept"), local("a")));
    locks.append(local("kept"), local("kept")).close();
  }

  @Test
  void D2_mapOutputIsAppendedToWithoutALock() throws Exception {
    Path own = new Path("/job_1_1/shuffle/attempt_1_1_m_000000_0/packed.mof");
    files.create(own).close();
    try (FSDataOutputStream first = files.append(own); FSDataOutputStream second =
        files.append(own)) {
      assertEquals(first.getPos(), second.getPos());
    }
  }

  /** A metadata server that refuses the layout just as another writer replaces the file. */
  @Test
  void D4_aFailedCreateLeavesAnotherWritersFileAlone() throws Exception {
    Files.writeString(local("other"), "another's");
    LustreFileSystem failing = filesOn(new Replacing(true));
    assertTold("ENOSPC", () -> failing.create(FILE));
    assertEquals("another's", Files.readString(local("a")));
  }

  @Test
  void D4_aFileThatWasReplacedWhileItWasMadeIsNotWrittenTo() throws Exception {
    Files.writeString(local("other"), "another's");
    LustreFileSystem slow = filesOn(new Replacing(false));
    assertTold("replaced by another writer while it was made", () -> slow.create(FILE));
    assertEquals("another's", Files.readString(local("a")));
    assertFalse(Files.exists(local("other")));
    assertThrows(FileNotFoundException.class, () -> files.open(new Path("/other")));
  }

  private LustreFileSystem filesOn(ClientCalls calls) throws IOException {
    LustreFileSystem made = new LustreFileSystem(calls);
    made.initialize(TestMount.ROOT_URI, conf);
    return made;
  }

  /** Renames /other over the file, once its layout is set; then fails, or goes on. */
  private final class Replacing implements ClientCalls {
    private final boolean fails;
    private byte[] layout = {};

    Replacing(boolean fails) {
      this.fails = fails;
    }

    @Override
    public byte[] get(java.nio.file.Path file, String name) {
      return layout;
    }

    @Override
    public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
      TestMount.MDS.set(file, name, value);
      layout = TestMount.MDS.get(file, name);
      Libc.rename(local("other"), Descriptor.shown(file));
      if (fails) {
        throw new ErrnoException(file, "setxattr " + name, Errno.ENOSPC);
      }
    }

    @Override
    public void mknod(java.nio.file.Path file, int mode) throws IOException {
      TestMount.MDS.mknod(file, mode);
    }
  }
}
