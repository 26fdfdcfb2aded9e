package org.vas.filesystem;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A process of its own that appends lines to /log below a mount, or holds the file open. */
final class Appending {
  static final Path LOG = new Path("/log");

  private Appending() {}

  /**
   * MOUNT, "hold" or a number of lines that it appends, each by a stream of its own, and true where
   * the site guarantees one writer.
   */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("vas.lustre.mount", args[0]);
    conf.setBoolean("vas.lustre.one-writer", args.length > 2 && args[2].equals("true"));
    FileSystem files = TestMount.fileSystem(conf);
    if (args[1].equals("hold")) {
      hold(files);
      return;
    }
    int done = 0;
    for (int line = 0; line < Integer.parseInt(args[1]); line++) {
      done += append(files, ProcessHandle.current().pid() + " " + line + "\n") ? 1 : 0;
    }
    Forked.tell(done);
  }

  private static void hold(FileSystem files) throws IOException {
    FSDataOutputStream out = files.append(LOG);
    out.write("held\n".getBytes(StandardCharsets.UTF_8));
    out.hflush();
    Forked.tell("open");
    while (System.in.read() >= 0) {
      // Until it is killed.
    }
  }

  private static boolean append(FileSystem files, String line) throws IOException {
    try (FSDataOutputStream out = files.append(LOG)) {
      // Twice, so that another writer has the time to come in between.
      out.write(line.substring(0, 3).getBytes(StandardCharsets.UTF_8));
      out.flush();
      out.write(line.substring(3).getBytes(StandardCharsets.UTF_8));
      return true;
    } catch (IOException e) {
      if (!String.valueOf(e.getMessage()).contains("is being written")) {
        Forked.tell(e.getMessage());
        throw e;
      }
      return false;
    }
  }

  /** The lines of the log below a mount. */
  static long lines(java.nio.file.Path mount) throws IOException {
    return Files.readAllLines(mount.resolve("log")).size();
  }
}
