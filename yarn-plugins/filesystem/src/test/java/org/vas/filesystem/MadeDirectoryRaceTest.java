package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Makes directories while somebody who may write the directory above replaces each by a link. */
class MadeDirectoryRaceTest {
  private static final int ROUNDS = 3_000;

  @TempDir Path mount;
  private final AtomicInteger round = new AtomicInteger();

  private Path made(int number) {
    return mount.resolve("project/out-" + number);
  }

  // Spins, so that it comes between mkdir and chmod often enough.
  private void plant(Path target) {
    while (round.get() < ROUNDS) {
      Path name = made(round.get());
      try {
        Files.move(name, name.resolveSibling("gone-" + name.getFileName()));
        Files.createSymbolicLink(name, target);
      } catch (IOException notThereYet) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void D3_aLinkInTheNewDirectorysPlaceIsNotFollowedByItsChmod() throws Exception {
    Files.createDirectory(mount.resolve("project"));
    Path secret = Files.createDirectory(mount.resolve("secret"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    LinkGuard links = new LinkGuard(new Descriptors(), mount, false);
    Thread other = new Thread(() -> plant(secret));
    other.start();
    try {
      for (; round.get() < ROUNDS; round.incrementAndGet()) {
        try {
          Directories.makeOne(made(round.get()), 01777, links);
        } catch (IOException refusedOrGone) {
          // Either is fine, as long as the link's target stays as it is.
        }
        assertEquals(0700, FileId.of(secret).modeBits(), "after " + round + " rounds");
      }
    } finally {
      round.set(ROUNDS);
      other.join();
    }
  }
}
