package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.layout.LayoutComponent;
import org.vas.layout.CompositeLayout;
import org.vas.layout.LayoutException;
import org.vas.layout.PlainLayout;
import org.vas.layout.StripeLayout;

class NewFileLayoutTest extends NewFiles {
  private static final long MIB = 1 << 20;
  private static final String MAP_ATTEMPT =
      "/out/_temporary/0/_temporary/attempt_1700000000000_0001_m_000000_0/part-m-00000";

  private CompositeLayout compositeOf(String path) throws IOException, LayoutException {
    return (CompositeLayout) StripeLayout.decode(TestMount.MDS.get(local(path), "lustre.lov"));
  }

  /** What is asked for the bytes after the first block: no objects before they are written. */
  private PlainLayout wideOf(String path) throws IOException, LayoutException {
    List<LayoutComponent> components = compositeOf(path).components();
    return (PlainLayout) components.get(components.size() - 1).layout();
  }

  @Test
  void stripesByBlocksOverAllOsts() throws Exception {
    files.create(new Path("/a")).close();
    PlainLayout layout = wideOf("/a");
    assertEquals(128 * MIB, layout.stripeSize());
    assertEquals(PlainLayout.ALL_OSTS, layout.stripeCount());
  }

  @Test
  void R4_aFileOfOneBlockHasOneObject() throws Exception {
    for (String path : List.of("/user/ann/.staging/job_1_0001/job.xml", "/out/_SUCCESS",
        "/history/job_1_0001.jhist", "/logs/vm1_8041", MAP_ATTEMPT)) {
      files.create(new Path(path)).close();
      LayoutComponent first = compositeOf(path).components().get(0);
      assertEquals(128 * MIB, first.end(), path);
      assertEquals(1, ((PlainLayout) first.layout()).objects().size(), path);
      assertEquals(List.of(), wideOf(path).objects(), path);
    }
  }

  @Test
  void R4_oneStripeOrNoProgressiveLayoutsArePlain() throws Exception {
    conf.setInt("vas.lustre.stripe-count", 1);
    TestMount.fileSystem(conf).create(new Path("/one")).close();
    assertEquals(1, layoutOf("/one").stripeCount());
    conf.setInt("vas.lustre.stripe-count", -1);
    conf.setBoolean("vas.lustre.progressive", false);
    TestMount.fileSystem(conf).create(new Path("/all")).close();
    assertEquals(FakeMds.OSTS, layoutOf("/all").stripeCount());
  }

  @Test
  void takesTheCallersBlockSizeRoundedUpToWhatLustreCan() throws Exception {
    files.create(new Path("/a"), true, 4096, (short) 1, 8 * MIB).close();
    assertEquals(8 * MIB, wideOf("/a").stripeSize());
    files.create(new Path("/b"), true, 4096, (short) 1, MIB + 1).close();
    assertEquals(MIB + (64 << 10), wideOf("/b").stripeSize());
    assertEquals(MIB + (64 << 10), compositeOf("/b").components().get(0).end());
  }

  @Test
  void refusesBlocksLargerThanAnyStripe() {
    IOException error = assertThrows(IOException.class,
        () -> files.create(new Path("/a"), true, 4096, (short) 1, 4096 * MIB));
    assertTrue(error.getMessage().contains("at most 4294901760"), error.getMessage());
    assertFalse(Files.exists(local("/a")));
  }

  @Test
  void refusesABlockSizeThatIsNoMultipleOf64KiB() {
    conf.set("vas.lustre.block-size", "100000");
    IOException error = assertThrows(IOException.class, () -> TestMount.fileSystem(conf));
    assertEquals("vas.lustre.block-size: 100000 is not a multiple of 64 KiB; Lustre has no such"
        + " stripe size", error.getMessage());
  }

  @Test
  void putsWhatAReduceAttemptWritesOnTheLocalOst() throws Exception {
    files.create(new Path(REDUCE_ATTEMPT)).close();
    PlainLayout layout = layoutOf(REDUCE_ATTEMPT);
    assertEquals(1, layout.stripeCount());
    assertEquals(0, layout.objects().get(0).ostIndex());
  }

  /** What attempts write, and the partitions of one: names that differ in a number. */
  @ParameterizedTest
  @ValueSource(strings = {
      "attempt_1_0001_m_%06d_0/packed.mof", "attempt_1_0001_m_000007_0/%05d.mof"})
  void severalLocalOstsShareWhatIsWritten(String name) throws Exception {
    for (int osts = 1; osts <= 8; osts++) {
      List<Integer> local = IntStream.range(10, 10 + osts).boxed().collect(Collectors.toList());
      LayoutPolicy policy = new LayoutPolicy(conf, () -> local);
      int[] files = new int[osts];
      for (int i = 0; i < 100 * osts; i++) {
        byte[] request = policy.layoutsFor(
            "/staging/ann/.staging/job_1_0001/shuffle/" + String.format(name, i), 0)
            .get(0).encode();
        files[startOf(request) - 10]++;
      }
      assertTrue(IntStream.of(files).allMatch(count -> count >= 70 && count <= 130),
          osts + " OSTs: " + Arrays.toString(files));
    }
  }

  @Test
  void putsTheFirstBytesOnTheMdtWhereAskedTo() throws Exception {
    conf.set("vas.lustre.dom-paths", ".*/manifest");
    files = TestMount.fileSystem(conf);
    String manifest = "/job_1_0001/shuffle/attempt_1_0001_m_000000_0/manifest";
    files.create(new Path(manifest)).close();
    CompositeLayout layout =
        (CompositeLayout) StripeLayout.decode(TestMount.MDS.get(local(manifest), "lustre.lov"));
    assertEquals(64 << 10, layout.components().get(0).end());
    assertEquals(1, ((PlainLayout) layout.components().get(1).layout()).stripeCount());
    files.create(new Path(REDUCE_ATTEMPT)).close();
    assertEquals(1, layoutOf(REDUCE_ATTEMPT).stripeCount());
  }

  @Test
  void stripesWhatAMapAttemptWrites() throws Exception {
    files.create(new Path(MAP_ATTEMPT)).close();
    assertEquals(PlainLayout.ALL_OSTS, wideOf(MAP_ATTEMPT).stripeCount());
  }

  @Test
  void stripesPrivateFilesOnMachinesWithoutOsts() throws Exception {
    conf.set("vas.local.guest", "");
    files = TestMount.fileSystem(conf);
    files.create(new Path(REDUCE_ATTEMPT)).close();
    assertEquals(PlainLayout.ALL_OSTS, wideOf(REDUCE_ATTEMPT).stripeCount());
  }

  @Test
  void takesPoolAndCountFromTheConfiguration() throws Exception {
    conf.set("vas.lustre.pool", "fast");
    conf.setInt("vas.lustre.stripe-count", 2);
    files = TestMount.fileSystem(conf);
    files.create(new Path("/a")).close();
    assertEquals(2, wideOf("/a").stripeCount());
    assertEquals("fast", wideOf("/a").pool().orElseThrow());
    PlainLayout first = (PlainLayout) compositeOf("/a").components().get(0).layout();
    assertEquals("fast", first.pool().orElseThrow());
  }

  @Test
  void leavesTheLayoutToTheDirectoryWhenAsked() throws Exception {
    conf.setInt("vas.lustre.stripe-count", 0);
    files = TestMount.fileSystem(conf);
    files.create(new Path("/a")).close();
    assertThrows(IOException.class, () -> layoutOf("/a"));
  }

  @Test
  void overwritingGivesANewFileAndLeavesReadersTheOld() throws Exception {
    write("/a", "old");
    try (FSDataInputStream reader = files.open(new Path("/a"))) {
      files.create(new Path("/a"), true, 4096, (short) 1, 8 * MIB).close();
      assertEquals(8 * MIB, wideOf("/a").stripeSize());
      assertEquals(0, files.getFileStatus(new Path("/a")).getLen());
      assertArrayEquals("old".getBytes(StandardCharsets.UTF_8), reader.readNBytes(3));
    }
    assertEquals(List.of("a"), names());
  }

  @Test
  void aRelativeLinkBelowALinkedDirectoryLeadsWhereTheKernelSays() throws Exception {
    Files.createDirectories(local("/x/y"));
    Files.writeString(local("/b"), "unrelated");
    Files.writeString(local("/x/b"), "old");
    Files.createSymbolicLink(local("/a"), java.nio.file.Path.of("x/y"));
    Files.createSymbolicLink(local("/x/y/link"), java.nio.file.Path.of("../b"));
    try (FSDataOutputStream out = files.create(new Path("/a/link"), true)) {
      out.write("new".getBytes(StandardCharsets.UTF_8));
    }
    assertEquals("unrelated", Files.readString(local("/b")));
    assertEquals("new", Files.readString(local("/x/b")));
  }

  @Test
  void overwritingThroughALinkReplacesWhatItLeadsTo() throws Exception {
    write("/a", "old");
    Files.createSymbolicLink(local("/link"), java.nio.file.Path.of("a"));
    write("/link", "newer");
    assertTrue(Files.isSymbolicLink(local("/link")));
    assertEquals("newer", Files.readString(local("/a")));
  }

  @Test
  void neverOverwritesUnasked() throws Exception {
    write("/a", "old");
    assertThrows(FileAlreadyExistsException.class, () -> files.create(new Path("/a"), false));
    assertEquals("old", Files.readString(local("/a")));
    assertFalse(files.createNewFile(new Path("/a")));
    assertTrue(files.createNewFile(new Path("/b")));
  }

  @Test
  void canWriteAFileThatNobodyMayWrite() throws Exception {
    FsPermission readOnly = new FsPermission((short) 0444);
    try (FSDataOutputStream out = files.create(
        new Path("/a"), readOnly, false, 4096, (short) 1, 0, null)) {
      out.write(1);
    }
    assertEquals(readOnly, files.getFileStatus(new Path("/a")).getPermission());
  }
}
