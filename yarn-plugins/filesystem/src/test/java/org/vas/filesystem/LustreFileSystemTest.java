package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LustreFileSystemTest {
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

  @Test
  void oneDirectoryIsMadeAndNoneAboveIt() throws IOException {
    LustreFileSystem lustre = (LustreFileSystem) files;
    FsPermission mode = new FsPermission((short) 0700);
    FileContext context = TestMount.fileContext(conf);
    assertThrows(FileNotFoundException.class, () -> lustre.mkdir(new Path("/gone/a"), mode));
    assertThrows(FileNotFoundException.class,
        () -> context.mkdir(new Path("/gone/a"), mode, false));
    assertFalse(files.exists(new Path("/gone")));
    lustre.mkdir(new Path("/one"), mode);
    lustre.mkdir(new Path("/one"), mode);
    context.mkdir(new Path("/one/two"), mode, false);
    assertEquals(mode, files.getFileStatus(new Path("/one/two")).getPermission());
  }

  /** Whoever looks first, and then makes all that is missing, makes the removed one again. */
  @Test
  void aDirectoryThatIsRemovedMeanwhileIsNotMadeAgain() throws IOException {
    FsPermission mode = new FsPermission((short) 0751);
    LustreFileSystem racing = new LustreFileSystem(TestMount.MDS) {
      @Override
      public FileStatus getFileStatus(Path path) throws IOException {
        FileStatus found = super.getFileStatus(path);
        Files.deleteIfExists(TestMount.mount(conf).resolve("job"));
        return found;
      }
    };
    racing.initialize(TestMount.ROOT_URI, conf);
    files.mkdirs(new Path("/job"));
    files.setPermission(new Path("/job"), mode);
    racing.primitiveMkdir(new Path("/job/shuffle"), new FsPermission((short) 0700), false);
    assertEquals(mode, files.getFileStatus(new Path("/job")).getPermission(), "the same as before");
  }

  @Test
  void isFoundByItsSchemeWithoutConfiguration() throws IOException {
    assertSame(LustreFileSystem.class,
        FileSystem.getFileSystemClass("lustre", new Configuration(false)));
  }

  @Test
  void takesTheFileSystemsNameAsAuthority() throws IOException {
    Files.createFile(local("a"));
    FileSystem named = FileSystem.get(URI.create("lustre://lab/"), conf);
    assertEquals(new Path("lustre://lab/a"), named.getFileStatus(new Path("/a")).getPath());
    assertNull(named.getCanonicalServiceName());
    IOException error = assertThrows(IOException.class,
        () -> FileSystem.get(URI.create("lustre://other/"), conf));
    assertEquals("lustre://other: the site's Lustre is 'lab'; write lustre:///PATH",
        error.getMessage());
  }

  @Test
  void neverLeavesTheMount() throws IOException {
    Files.createFile(local("a"));
    assertTrue(files.exists(new Path("/../../a")));
    assertTrue(files.getFileStatus(new Path("/..")).isDirectory());
  }

  @Test
  void saysWhichSiteDescriptionIsMissing() {
    conf.set("vas.cluster.file", "/no/such.yaml");
    IOException error = assertThrows(IOException.class, () -> TestMount.fileSystem(conf));
    assertEquals("/no/such.yaml: no such site description; name yours in vas.cluster.file",
        error.getMessage());
  }

  @Test
  void needsNoSiteDescriptionForAMountWithoutLocations() throws IOException {
    conf.set("vas.cluster.file", "/no/such.yaml");
    conf.set("vas.locations", "none");
    files = TestMount.fileSystem(conf);
    Files.write(local("a"), new byte[1]);
    BlockLocation[] got =
        files.getFileBlockLocations(files.getFileStatus(new Path("/a")), 0, 1);
    assertEquals(List.of("localhost"), List.of(got[0].getHosts()));
  }

  @Test
  void refusesAGuestThatTheSiteDoesNotHave() {
    conf.set("vas.local.guest", "vm9");
    IOException error = assertThrows(IOException.class, () -> TestMount.fileSystem(conf));
    assertTrue(error.getMessage().startsWith("vas.local.guest: no guest or host 'vm9'"),
        error.getMessage());
  }

  @Test
  void aWrongKeyOrValueIsAnIoExceptionWithTheKeyAndTheFix() {
    assertRefused("vas.location", "none", "vas.location: unknown key; did you mean vas.locations?");
    assertRefused("vas.locations.mode", "none", "vas.locations.mode: unknown key; known keys: ");
    assertRefused("vas.local.gest", "vm1",
        "vas.local.gest: unknown key; did you mean vas.local.guest?");
    assertRefused("vas.locations", "all", "vas.locations: 'all' is not known; use vm or none");
    assertRefused("vas.lustre.buffer-size", "1",
        "vas.lustre.buffer-size: '1' is not a valid size; use 4k to 16m");
  }

  private static void assertRefused(String key, String value, String message) {
    Configuration wrong = TestMount.configuration();
    wrong.set(key, value);
    IOException error = assertThrows(IOException.class, () -> TestMount.fileSystem(wrong));
    assertTrue(error.getMessage().startsWith(message), error.getMessage());
  }

  @Test
  void anErrorNamesPathErrnoAndMeaning() {
    IOException error = assertThrows(FileNotFoundException.class,
        () -> files.getFileStatus(new Path("/a/b")));
    assertEquals("/a/b: ENOENT (No such file or directory)", error.getMessage());
  }

  @Test
  void answersRealOwnersAndAllPermissionBits() throws IOException {
    Files.createDirectory(local("d"));
    files.setPermission(new Path("/d"), new FsPermission((short) 01751));
    FileStatus status = files.getFileStatus(new Path("/d"));
    assertSame(FileStatus.class, status.getClass());
    assertEquals(01751, status.getPermission().toShort());
    assertEquals(Files.getOwner(local("d")).getName(), status.getOwner());
    files.access(new Path("/d"), FsAction.READ_EXECUTE);
  }

  @Test
  void accessIsWhatTheKernelAllows() throws IOException {
    Files.createFile(local("a"));
    files.setPermission(new Path("/a"), new FsPermission((short) 0600));
    assertThrows(AccessControlException.class,
        () -> files.access(new Path("/a"), FsAction.EXECUTE));
    assertThrows(FileNotFoundException.class,
        () -> files.access(new Path("/b"), FsAction.NONE));
  }

  @Test
  void changingADirectorysModeKeepsItsSetgidBit() throws IOException {
    files.mkdirs(new Path("/shared"), null);
    Files.setAttribute(local("shared"), "unix:mode", 02775);
    files.setPermission(new Path("/shared"), new FsPermission((short) 0770));
    assertEquals(02770, (int) Files.getAttribute(local("shared"), "unix:mode") & 07777);
  }

  @Test
  void deletesALinkAndNotWhatItLeadsTo() throws IOException {
    Files.createDirectories(local("d/e"));
    Files.createSymbolicLink(local("link"), local("d"));
    assertTrue(files.delete(new Path("/link"), true));
    assertTrue(Files.exists(local("d/e")));
    assertFalse(files.delete(new Path("/"), true));
    assertTrue(Files.exists(local("d/e")));
  }

  @Test
  void ofManyThatCreateAFileOneWins() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path path = new Path("/lock" + round);
      assertEquals(1, together(4, () -> files.createNewFile(path)).stream()
          .filter(won -> won).count());
    }
  }

  @Test
  void ofManyThatRenameToOneNameOneWins() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path target = new Path("/target" + round);
      List<Path> sources = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        sources.add(new Path("/source" + round + "-" + i));
        Files.createFile(local("source" + round + "-" + i));
      }
      List<Path> left = Collections.synchronizedList(new ArrayList<>(sources));
      assertEquals(1, together(4, () -> files.rename(left.remove(0), target)).stream()
          .filter(won -> won).count());
    }
  }

  @Test
  void anOverwritingRenameNeverLeavesTheNameEmpty() throws Exception {
    FileContext context = TestMount.fileContext(conf);
    Path target = new Path("/current");
    Files.createFile(local("current"));
    whileRunning(() -> {
      Files.createFile(local("next"));
      context.rename(new Path("/next"), target, Options.Rename.OVERWRITE);
    }, () -> assertTrue(files.exists(target)));
  }

  @Test
  void listsDirectoriesThatChangeMeanwhile() throws Exception {
    whileRunning(() -> {
      for (int i = 0; i < 5; i++) {
        Files.createFile(local("f" + i));
      }
      for (int i = 0; i < 5; i++) {
        Files.delete(local("f" + i));
      }
    }, () -> assertTrue(files.listStatus(new Path("/")).length <= 5));
  }

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  /** Does the step 500 times while another thread repeats the change. */
  private static void whileRunning(Step change, Step step) throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService other = Executors.newSingleThreadExecutor();
    Future<?> changes = other.submit(() -> {
      while (!done.get()) {
        change.run();
      }
      return null;
    });
    try {
      for (int i = 0; i < 500; i++) {
        step.run();
      }
    } finally {
      done.set(true);
      other.shutdown();
    }
    changes.get();
  }

  private static <T> List<T> together(int count, Callable<T> call) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> result : threads.invokeAll(Collections.nCopies(count, call))) {
        results.add(result.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }
}
