package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Deletes a tree while somebody exchanges its directories for links. */
@Timeout(180)
class TreeRemoverRaceTest {
  private static final int CHILDREN = 40;
  private static final int ROUNDS = 150;
  private static final int AT_CWD = -100;
  private static final int EXCHANGE = 2;

  @TempDir
  private Path root;

  private final Libc.Calls calls = Native.load(Libc.Calls.class);
  private final AtomicBoolean over = new AtomicBoolean();
  private Path mount;
  private Path victim;
  private Path precious;
  private Thread attacker;
  private final AtomicInteger exchanges = new AtomicInteger();

  @BeforeEach
  void attack() throws IOException {
    mount = Files.createDirectory(root.resolve("mount"));
    Files.createDirectory(mount.resolve("links"));
    victim = Files.createDirectory(root.resolve("victim"));
    precious = victim.resolve("precious");
    Files.writeString(precious, "x");
    for (int i = 0; i < CHILDREN; i++) {
      Files.createSymbolicLink(mount.resolve("links/l" + i), victim);
    }
    attacker = new Thread(this::exchange, "attacker");
    attacker.start();
  }

  @AfterEach
  void stop() throws InterruptedException {
    over.set(true);
    attacker.join();
  }

  // Directory and link take each other's name in one step, as fast as it goes.
  private void exchange() {
    while (!over.get()) {
      for (int i = 0; i < CHILDREN && !over.get(); i++) {
        exchange(mount.resolve("tree/d" + i), mount.resolve("links/l" + i));
      }
    }
  }

  private void exchange(Path one, Path other) {
    try {
      calls.renameat2(AT_CWD, bytes(one), AT_CWD, bytes(other), EXCHANGE);
      exchanges.incrementAndGet();
    } catch (LastErrorException gone) {
      assertEquals(Errno.ENOENT.number(), gone.getErrorCode());
    }
  }

  private static byte[] bytes(Path path) {
    return (path + "\0").getBytes(StandardCharsets.UTF_8);
  }

  private void plant() throws IOException {
    for (int i = 0; i < CHILDREN; i++) {
      while (!planted(mount.resolve("tree/d" + i), mount.resolve("links/l" + i))) {
        Thread.onSpinWait();  // exchanged in the middle of a call
      }
    }
  }

  private boolean planted(Path directory, Path link) throws IOException {
    try {
      Files.createDirectories(directory);
      if (!Files.isSymbolicLink(link)) {
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, victim);
      }
      return true;
    } catch (FileSystemException exchanged) {
      return false;
    }
  }

  @Test
  void S5_whatIsExchangedForALinkDuringADeleteLeadsNowhere() throws Exception {
    try (FileSystem fs = new LustreFileSystem()) {
      org.apache.hadoop.conf.Configuration conf = TestMount.configuration();
      conf.set("vas.lustre.mount", mount.toString());
      fs.initialize(TestMount.ROOT_URI, conf);
      int refused = 0;
      for (int round = 0; round < ROUNDS; round++) {
        plant();
        refused += deletes(fs) ? 0 : 1;
        assertTrue(Files.exists(precious), "lost in round " + round);
      }
      assertTrue(refused < ROUNDS / 2, refused + " deletes gave up");
    }
    assertTrue(exchanges.get() > ROUNDS, exchanges + " exchanges only");
    assertEquals("x", Files.readString(precious));
  }

  /** Whether the tree is gone; one that is exchanged over and over may be given up, loudly. */
  private boolean deletes(FileSystem fs) throws IOException {
    try {
      fs.delete(new org.apache.hadoop.fs.Path("/tree"), true);
    } catch (IOException gaveUp) {
      assertTrue(String.valueOf(gaveUp.getMessage()).contains("tree"), gaveUp.toString());
      return false;
    }
    assertFalse(Files.exists(mount.resolve("tree")));
    return true;
  }

  /** The guard off: what the mend replaced, a walk by path, loses the file of somebody else. */
  @Test
  void S5_aDeleteByPathFollowsTheLink() throws Exception {
    while (Files.exists(precious)) {  // ends by the class' time limit
      plant();
      try {
        deleteByPath(mount.resolve("tree"));
      } catch (FileSystemException exchanged) {
        // In the middle of a call: the next round is another try.
      }
    }
  }

  private static void deleteByPath(Path tree) throws IOException {
    Files.walkFileTree(tree, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
          throws IOException {
        deleteUnlessExchanged(file);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException error) throws IOException {
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path directory, IOException error)
          throws IOException {
        deleteUnlessExchanged(directory);
        return FileVisitResult.CONTINUE;
      }
    });
  }

  private static void deleteUnlessExchanged(Path file) throws IOException {
    try {
      Files.deleteIfExists(file);
    } catch (FileSystemException exchanged) {
      assertTrue(exchanged.getFile().startsWith(file.toString()));
    }
  }
}
