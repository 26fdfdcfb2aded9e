package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Opens links of two users as a daemon does that has more rights than both: this process, as root.
 * The files' owners are real, which only root can make, so the class needs root.
 */
class LinkGuardTest {
  private static final int BOB = 4001;
  private static final int CAROL = 4002;

  private Configuration conf;
  private Path mount;
  private FileSystem fs;

  @BeforeEach
  void twoUsers() throws IOException {
    assumeTrue(new Descriptors().user() == 0, "run as root: files of other users are made");
    open("guarded");
    for (String user : new String[] {"bob", "carol"}) {
      Path home = Files.createDirectory(mount.resolve(user));
      own(home, user.equals("bob") ? BOB : CAROL);
    }
    file("carol/secret", CAROL, "rw-rw----");
    file("carol/public", CAROL, "rw-r--r--");
    file("bob/own", BOB, "rw-------");
  }

  private void open(String rule) throws IOException {
    if (mount == null) {
      conf = TestMount.configuration();
      mount = TestMount.mount(conf);
      chmod(mount, "rwxr-xr-x");
    }
    conf.set("vas.lustre.links", rule);
    fs = new TestMount.OnFakeMds();
    fs.initialize(TestMount.ROOT_URI, conf);
  }

  private void file(String name, int owner, String mode) throws IOException {
    Path file = Files.writeString(mount.resolve(name), name);
    chmod(file, mode);
    chmod(file.getParent(), "rwxr-xr-x");
    own(file, owner);
  }

  private static void chmod(Path file, String mode) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  private static void own(Path file, int user) throws IOException {
    Files.setAttribute(file, "unix:uid", user, LinkOption.NOFOLLOW_LINKS);
  }

  private void link(String name, Path target, int owner) throws IOException {
    own(Files.createSymbolicLink(mount.resolve(name), target), owner);
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path("/" + name);
  }

  private String read(String name) throws IOException {
    try (var in = fs.open(path(name))) {
      return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }
  }

  private void refused(String planted, org.junit.jupiter.api.function.Executable call) {
    String message = assertThrows(AccessControlException.class, call).getMessage();
    assertTrue(message.startsWith(mount.resolve(planted) + ": a symbolic link to '"), message);
    assertTrue(message.contains("not followed") && message.contains("vas.lustre.links"), message);
  }

  @Test
  void S4_aDaemonDoesNotReadTheSecretOfOneUserThroughTheLinkOfAnother() throws IOException {
    link("bob/job_conf.xml", mount.resolve("carol/secret"), BOB);
    link("bob/relative", Path.of("../carol/secret"), BOB);
    link("bob/dir", mount.resolve("carol"), BOB);
    for (String name : new String[] {"bob/job_conf.xml", "bob/relative"}) {
      refused(name, () -> fs.open(path(name)));
      refused(name, () -> fs.getFileStatus(path(name)));
      refused(name, () -> fs.append(path(name)));
    }
    refused("bob/dir", () -> fs.open(path("bob/dir/secret")));
    refused("bob/dir", () -> fs.create(path("bob/dir/new"), false));
    refused("bob/dir", () -> fs.create(path("bob/dir/secret"), true));
    refused("bob/dir", () -> fs.delete(path("bob/dir/public"), false));
    refused("bob/dir", () -> fs.mkdirs(path("bob/dir/a/b")));
    refused("bob/dir", () -> fs.rename(path("bob/dir/public"), path("bob/got")));
    refused("bob/dir", () -> fs.rename(path("bob/own"), path("bob/dir")));
    refused("bob/relative", () -> fs.create(path("bob/relative"), true));
    assertEquals("carol/secret", Files.readString(mount.resolve("carol/secret")));
  }

  /** The guard off: the same link is read, as the kernel follows it. */
  @Test
  void S4_withoutTheGuardTheSecretIsRead() throws IOException {
    link("bob/job_conf.xml", mount.resolve("carol/secret"), BOB);
    open("all");
    assertEquals("carol/secret", read("bob/job_conf.xml"));
  }

  @Test
  void S4_nothingLeadsOutOfTheMount() throws IOException {
    Path outside = Files.writeString(mount.resolveSibling(mount.getFileName() + ".outside"), "x");
    link("bob/absolute", outside, BOB);
    link("bob/roots", outside, 0);
    link("bob/up", Path.of("../..").resolve(outside.getFileName()), 0);
    for (String name : new String[] {"bob/absolute", "bob/roots", "bob/up"}) {
      String message =
          assertThrows(AccessControlException.class, () -> fs.open(path(name))).getMessage();
      assertTrue(message.contains("out of the mount"), message);
    }
    open("all");
    assertEquals("x", read("bob/up"));
  }

  @Test
  void S4_linksThatGiveNothingAwayAreFollowed() throws IOException {
    link("bob/to-own", Path.of("own"), BOB);
    link("bob/to-public", Path.of("../carol/public"), BOB);
    link("bob/by-root", Path.of("../carol/secret"), 0);
    link("bob/chain", Path.of("to-own"), BOB);
    link("bob/through", Path.of("../carol/back/own"), BOB);
    link("carol/back", mount.resolve("bob"), CAROL);
    assertEquals("bob/own", read("bob/to-own"));
    assertEquals("carol/public", read("bob/to-public"));
    assertEquals("carol/secret", read("bob/by-root"), "root's links are trusted");
    assertEquals("bob/own", read("bob/chain"));
    refused("bob/to-public", () -> fs.append(path("bob/to-public")));
    refused("carol/back", () -> fs.open(path("bob/through")));
    link("bob/loop", Path.of("loop"), BOB);
    assertTrue(assertThrows(IOException.class, () -> fs.open(path("bob/loop"))).getMessage()
        .contains("cyclic loop"));
  }

  /** Everybody could read the file, were it not for the directory that it is in. */
  @Test
  void S4_whatOnlyItsOwnerCanGetToIsNotReadThroughALink() throws IOException {
    Path closed = Files.createDirectory(mount.resolve("carol/closed"));
    file("carol/closed/open", CAROL, "rw-r--r--");
    link("bob/to-open", Path.of("../carol/closed/open"), BOB);
    assertEquals("carol/closed/open", read("bob/to-open"));
    chmod(closed, "rwx------");
    refused("bob/to-open", () -> fs.open(path("bob/to-open")));
  }

  /** A daemon goes on with the rest; a job that reads the link fails, and leaves nothing out. */
  @Test
  void S4_aListingShowsALinkThatIsNotFollowedAsALinkOfSomeLength() throws IOException {
    link("bob/planted", mount.resolve("carol/secret"), BOB);
    link("bob/to-own", Path.of("own"), BOB);
    FileStatus[] found = fs.listStatus(path("bob"));
    assertEquals(3, found.length);
    assertTrue(found[0].isFile());
    assertTrue(found[1].isSymlink() && !found[1].isFile() && found[1].getLen() > 0);
    assertTrue(found[2].isFile(), "followed");
    refused("bob/planted", () -> fs.open(found[1].getPath()));
    refused("bob/planted", () -> fs.globStatus(path("bob/planted")));
  }

  @Test
  void S4_aLinkItselfIsStillSeenRenamedAndRemoved() throws IOException {
    link("bob/planted", mount.resolve("carol/secret"), BOB);
    assertTrue(fs.getFileLinkStatus(path("bob/planted")).isSymlink());
    assertTrue(fs.rename(path("bob/planted"), path("bob/moved")));
    assertTrue(fs.delete(path("bob/moved"), true));
    assertTrue(Files.exists(mount.resolve("carol/secret")));
    assertFalse(Files.exists(mount.resolve("bob/moved"), LinkOption.NOFOLLOW_LINKS));
  }

  /** Before Linux 5.6, or where seccomp hides the call. */
  @Test
  void S4_theSameRuleHoldsWithoutOpenat2() throws IOException {
    link("bob/planted", mount.resolve("carol/secret"), BOB);
    link("bob/to-own", Path.of("own"), BOB);
    LinkGuard guard = new LinkGuard(new Descriptors(WithoutOpenat2.calls()), mount, false);
    assertThrows(AccessControlException.class,
        () -> guard.object(mount.resolve("bob/planted"), LinkGuard.Use.READ));
    try (Descriptor found = guard.object(mount.resolve("bob/to-own"), LinkGuard.Use.READ)) {
      assertEquals("bob/own", Files.readString(found.path()));
    }
    try (Descriptor root = guard.object(mount, LinkGuard.Use.READ)) {
      assertTrue(root.id().isDirectory());
    }
  }

  @Test
  void S4_anUnknownRuleIsRefused() {
    String message = assertThrows(IOException.class, () -> open("none")).getMessage();
    assertEquals("vas.lustre.links: 'none' is neither guarded nor all", message);
  }
}
