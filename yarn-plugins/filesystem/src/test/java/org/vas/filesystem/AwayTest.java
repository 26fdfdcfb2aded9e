package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests what fails and what goes on while an OST is away, and with a name that may not be removed,
 * through the real system calls.
 */
class AwayTest {
  private static final String OUTPUT =
      "job_1_0001/shuffle/attempt_1_0001_m_000000_0/onaway";

  private Path mount;

  @BeforeEach
  void mount() throws IOException {
    Configuration conf = TestMount.configuration();
    mount = TestMount.mount(conf);
    for (String name : new String[] {OUTPUT, "tree/deep/onaway"}) {
      Files.createDirectories(mount.resolve(name).getParent());
      Files.writeString(mount.resolve(name), "x");
    }
  }

  @AfterEach
  void mayBeChangedAgain() throws Exception {
    change("-i");
  }

  private int change(String attribute) throws Exception {
    return change(attribute, mount.resolve("tree"));
  }

  private static int change(String attribute, Path file) throws Exception {
    return new ProcessBuilder("chattr", attribute, file.toString()).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
  }

  @Test
  void R5_anErrorOfMapOutputNamesItsOstAndWhatNeedsNoBytesGoesOn() throws Exception {
    try (Forked process = Forked.start(OnAway.class,
        Map.of("LD_PRELOAD", Forked.library("away").toString()), mount.toString(), "/" + OUTPUT)) {
      for (String call : new String[] {"openOwn", "getFileStatus"}) {
        String told = process.line();
        assertTrue(told.startsWith("[OST0003] "), call + ": " + told);
        assertTrue(told.contains("ESHUTDOWN"), told);
        assertFalse(told.contains("/proc/self/fd"), told);
      }
      assertEquals("true", process.line(), "R4: the MDT removes a file");
      assertEquals("true", process.line(), "R4: and a tree");
    }
    assertFalse(Files.exists(mount.resolve(OUTPUT)));
    assertFalse(Files.exists(mount.resolve("tree")));
  }

  @Test
  void R4_whatNeedsNeitherSizeNorBytesAsksNoOst() throws Exception {
    Files.writeString(mount.resolve("onaway"), "x");
    try (Forked process = Forked.start(OnAway.AsksNoOst.class,
        Map.of("LD_PRELOAD", Forked.library("away").toString()), mount.toString())) {
      for (String call : new String[] {"open", "locations OST0003", "chmod", "rename true",
          "rename by FileContext", "rename over a file", "replace", "delete true"}) {
        assertEquals(call, process.line());
      }
    }
    assertFalse(Files.exists(mount.resolve("moved-onaway")));
  }

  @Test
  void R4_aFileThatCannotBeReplacedKeepsItsErrorAndLeavesNoNewFileBehind() throws Exception {
    Path directory = Files.createDirectory(mount.resolve("onaway-directory"));
    Path kept = Files.writeString(directory.resolve("tree"), "x");
    assertEquals(0, change("+i", kept), "chattr, as root on a file system that has it");
    try (Forked process = Forked.start(OnAway.CannotReplace.class,
        Map.of("LD_PRELOAD", Forked.library("away").toString()), mount.toString())) {
      String told = process.line();
      assertTrue(told.contains("EPERM"), told);
      assertFalse(told.contains("ESHUTDOWN"), told);
    } finally {
      change("-i", kept);
    }
    try (var left = Files.list(directory)) {
      assertEquals(List.of(kept), left.collect(Collectors.toList()));
    }
  }

  @Test
  void R1_aSourceThatMayNotBeRemovedKeepsItsOneName() throws Exception {
    Path source = mount.resolve("tree/kept");
    Files.writeString(source, "x");
    assertEquals(0, change("+i"), "chattr, as root on a file system that has it");
    Path target = mount.resolve("given");
    try {
      new NoReplace(TestMount.MDS).rename(source, target);
      throw new AssertionError("a name was removed from an immutable directory");
    } catch (ErrnoException e) {
      assertTrue(e.is(Errno.EPERM) || e.is(Errno.EACCES), e.getMessage());
    }
    assertEquals(1, FileId.ofLink(source).links());
    assertFalse(Files.exists(target));
  }
}
