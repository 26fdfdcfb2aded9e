package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;

/** Sets the times of last change and last access of files. */
final class Times {
  private Times() {}

  /** Sets the times, in milliseconds since the epoch; a negative one stays as it is. */
  static void set(Path file, long modified, long accessed) throws IOException {
    Files.getFileAttributeView(file, BasicFileAttributeView.class)
        .setTimes(time(modified), time(accessed), null);
  }

  private static FileTime time(long millis) {
    return millis < 0 ? null : FileTime.fromMillis(millis);
  }
}
