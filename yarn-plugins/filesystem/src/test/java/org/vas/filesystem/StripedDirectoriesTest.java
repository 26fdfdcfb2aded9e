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
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line is that of a real {@code lfs mkdir -c 2 DIR}; the program here is a script. */
class StripedDirectoriesTest {
  private static final Pattern SHUFFLE = Pattern.compile(".*/shuffle");

  @TempDir Path dir;

  @Test
  void oneMdtAndOtherPathsAreNotItsBusiness() {
    assertFalse(new StripedDirectories("lfs", SHUFFLE, 1).include("/a/shuffle"));
    assertTrue(new StripedDirectories("lfs", SHUFFLE, 2).include("/a/shuffle"));
    assertFalse(new StripedDirectories("lfs", SHUFFLE, 2).include("/a/shuffle/attempt_1"));
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
    StripedDirectories striped = new StripedDirectories("/no/lfs", SHUFFLE, 4);
    IOException e =
        assertThrows(IOException.class, () -> striped.make(dir.resolve("shuffle"), 0700));
    assertTrue(e.getMessage().startsWith("vas.lustre.mdt-count is 4, for which"), e::getMessage);
  }

  @Test
  void whatLfsSaysIsToldWithTheKey() throws IOException {
    StripedDirectories striped = lfs("echo no such MDT >&2; exit 22");
    IOException e =
        assertThrows(IOException.class, () -> striped.make(dir.resolve("shuffle"), 0700));
    assertTrue(e.getMessage().endsWith("/shuffle: cannot be striped over 4 MDTs: no such MDT; set"
        + " vas.lustre.mdt-count to what 'lfs mdts' lists, or to 1"), e::getMessage);
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

  private StripedDirectories lfs(String script) throws IOException {
    Path program = dir.resolve("lfs");
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return new StripedDirectories(program.toString(), SHUFFLE, 4);
  }
}
