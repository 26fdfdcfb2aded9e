package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Makes striped directories by a script in the place of lfs, with the command line of a real {@code
 * lfs mkdir -c COUNT DIR}.
 */
class StripedDirectoriesTest {
  private static final Pattern SHUFFLE = Pattern.compile(".*/shuffle");

  @TempDir Path dir;

  @Test
  void oneMdtAndOtherPathsAreNotItsBusiness() {
    assertFalse(striped("lfs", 1).include("/a/shuffle"));
    assertTrue(striped("lfs", 2).include("/a/shuffle"));
    assertFalse(striped("lfs", 2).include("/a/shuffle/attempt_1"));
  }

  @Test
  void lfsMakesItAndItIsItsOwnersAlone() throws IOException {
    Path made = dir.resolve("with space/shuffle");
    Files.createDirectory(made.getParent());
    StripedDirectories striped = lfs("echo \"$*\" > " + dir + "/said; mkdir \"$4\"");
    striped.make(made, 0700);
    assertEquals("mkdir -c 4 " + made + "\n", Files.readString(dir.resolve("said")));
    assertEquals("rwx------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(made)));
  }

  @Test
  void oneThatIsThereStays() throws IOException {
    Files.createDirectory(dir.resolve("shuffle"));
    lfs("exit 99").make(dir.resolve("shuffle"), 0700);
  }

  /** As when another map makes it in between. */
  @Test
  void oneThatAppearsMeanwhileStays() throws IOException {
    lfs("mkdir \"$4\"; echo stripe already set >&2; exit 17").make(dir.resolve("shuffle"), 0700);
  }

  @Test
  void withoutLfsTheKeyIsNamed() {
    StripedDirectories striped = striped("/no/lfs", 4);
    IOException e =
        assertThrows(IOException.class, () -> striped.make(dir.resolve("shuffle"), 0700));
    assertTrue(e.getMessage().startsWith("vas.lustre.mdt-count is 4, for which"), e::getMessage);
  }

  @Test
  void N4_anLfsThatNeverEndsIsEnded() throws Exception {
    Path program = Files.writeString(
        dir.resolve("lfs"), "#!/bin/sh\necho $$ > " + dir + "/pid\nexec sleep 600\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    StripedDirectories striped =
        striped(program.toString(), 4, Duration.ofSeconds(5));
    IOException e =
        assertThrows(IOException.class, () -> striped.make(dir.resolve("shuffle"), 0700));
    assertTrue(e.getMessage().endsWith("/shuffle: lfs mkdir has not ended after 5 s; see 'lfs"
        + " check mdts', or set vas.lustre.mdt-count to 1"), e::getMessage);
    assertFalse(Files.exists(dir.resolve("shuffle")));
    long pid = Long.parseLong(Files.readString(dir.resolve("pid")).strip());
    Optional<ProcessHandle> ended = ProcessHandle.of(pid);
    if (ended.isPresent()) {
      ended.get().onExit().get(1, TimeUnit.MINUTES);
    }
  }

  @Test
  void whatLfsSaysIsToldWithTheKey() throws IOException {
    StripedDirectories striped = lfs("echo no such MDT >&2; exit 22");
    IOException e =
        assertThrows(IOException.class, () -> striped.make(dir.resolve("shuffle"), 0700));
    assertTrue(e.getMessage().endsWith("/shuffle: cannot be striped over 4 MDTs: no such MDT; set"
        + " vas.lustre.mdt-count to what 'lfs mdts' lists, or to 1"), e::getMessage);
  }

  /** What Lustre answers ordinary users as it comes: mdt.*.enable_remote_dir_gid=0. */
  @Test
  void R3_whereUsersMayNotTheyAreMadePlainWithOneWarning() throws IOException {
    StripedDirectories striped = lfs("echo run >> " + dir + "/runs; echo \"lfs setdirstripe: cannot"
        + " create dir '$4': Operation not permitted\" >&2; exit 1");
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(StripedDirectories.class));
    for (String name : List.of("a", "b", "c")) {
      Path made = dir.resolve(name + "/shuffle");
      Files.createDirectory(made.getParent());
      striped.make(made, 0700);
      assertEquals("rwx------",
          PosixFilePermissions.toString(Files.getPosixFilePermissions(made)));
    }
    log.stopCapturing();
    assertEquals(1, log.getOutput().lines().count(), log::getOutput);
    assertTrue(log.getOutput().contains("mdt.*.enable_remote_dir_gid"), log::getOutput);
    assertTrue(log.getOutput().contains("Operation not permitted"), log::getOutput);
    assertEquals("run\n", Files.readString(dir.resolve("runs")), "lfs is asked once");
  }

  @Test
  void aLinkInItsPlaceIsNotFollowed() throws IOException {
    Files.createSymbolicLink(dir.resolve("shuffle"), dir);
    StripedDirectories striped = lfs("echo exists >&2; exit 17");
    assertThrows(IOException.class, () -> striped.make(dir.resolve("shuffle"), 0700));
  }

  @Test
  void noneIsMadeAboveIt() throws IOException {
    StripedDirectories striped = lfs("mkdir -p \"$4\"");
    assertThrows(
        NoSuchFileException.class, () -> striped.make(dir.resolve("gone/shuffle"), 0700));
    assertFalse(Files.exists(dir.resolve("gone")));
  }

  @Test
  void D3_aLinkInTheNewStripedDirectorysPlaceIsNotFollowed() throws IOException {
    Path secret = Files.createDirectory(dir.resolve("secret"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    StripedDirectories striped =
        lfs("mkdir \"$4\"; mv \"$4\" \"$4.gone\"; ln -s " + secret + " \"$4\"");
    PlantedException e = assertThrows(
        PlantedException.class, () -> striped.make(dir.resolve("shuffle"), 0755));
    assertTrue(e.getMessage().startsWith(dir + "/shuffle: was just made, and is a symbolic link"),
        e::getMessage);
    assertEquals("rwx------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(secret)));
  }

  private StripedDirectories striped(String lfs, int mdts) {
    return striped(lfs, mdts, Duration.ofMinutes(1));
  }

  private StripedDirectories striped(String lfs, int mdts, Duration longest) {
    return new StripedDirectories(
        lfs, SHUFFLE, mdts, new LinkGuard(new Descriptors(), dir, false), longest);
  }

  private StripedDirectories lfs(String script) throws IOException {
    Path program = dir.resolve("lfs");
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return striped(program.toString(), 4);
  }
}
