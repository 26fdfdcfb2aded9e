package org.vas.filesystem;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** In a process of its own, whose OST 3 is away: what is told about files on it. */
final class OnAway {
  private OnAway() {}

  /** MOUNT, and a file of map output below it; tells one line for each call. */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("vas.lustre.mount", args[0]);
    Path file = new Path(args[1]);
    try (LustreFileSystem files = new LustreFileSystem()) {
      files.initialize(TestMount.ROOT_URI, conf);
      tell(() -> files.openOwn(file, 3, 4096).close());
      tell(() -> files.getFileStatus(file));
      tell(() -> Forked.tell(files.delete(file, false)));
      tell(() -> Forked.tell(files.delete(new Path("/tree"), true)));
    }
  }

  /** A call that may fail. */
  @FunctionalInterface
  private interface Call {
    void run() throws IOException;
  }

  private static void tell(Call call) {
    try {
      call.run();
    } catch (IOException e) {
      Throwable cause = e;
      while (!(cause instanceof ErrnoException) && cause.getCause() != null) {
        cause = cause.getCause();
      }
      Object osts = cause instanceof ErrnoException ? ((ErrnoException) cause).osts() : "none";
      Forked.tell(osts + " " + e.getMessage());
    }
  }
}
