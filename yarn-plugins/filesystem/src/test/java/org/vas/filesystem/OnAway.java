package org.vas.filesystem;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/** A process of its own, whose OST 3 is away: prints what calls on a file of that OST give. */
final class OnAway {
  private OnAway() {}

  /** MOUNT, and a file of map output below it; tells one line for each call. */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("vas.lustre.mount", args[0]);
    Path file = new Path(args[1]);
    try (LustreFileSystem files = new LustreFileSystem()) {
      files.initialize(TestMount.ROOT_URI, conf);
      tell(() -> files.openOwn(file, 3, 4096).read());
      tell(() -> files.getFileStatus(file));
      tell(() -> Forked.tell(files.delete(file, false)));
      tell(() -> Forked.tell(files.delete(new Path("/tree"), true)));
    }
  }

  /**
   * Makes the calls that need a file's name, owner, mode or layout, and neither its size nor its
   * bytes.
   */
  static final class AsksNoOst {
    private AsksNoOst() {}

    /** MOUNT; prints what each call answers. */
    public static void main(String[] args) throws Exception {
      Configuration conf = new Configuration();
      conf.set("vas.lustre.mount", args[0]);
      conf.setBoolean("vas.layout.required", false);
      Path file = new Path("/onaway");
      Path moved = new Path("/moved-onaway");
      try (LustreFileSystem files = new LustreFileSystem()) {
        files.initialize(TestMount.ROOT_URI, conf);
        tell(() -> {
          files.open(file).close();
          Forked.tell("open");
        });
        tell(() -> Forked.tell("locations " + files.getFileBlockLocations(
            new FileStatus(1, false, 1, 1 << 20, 0, file), 0, 1)[0].getStorageIds()[0]));
        tell(() -> {
          files.setPermission(file, new FsPermission((short) 0640));
          Forked.tell("chmod");
        });
        tell(() -> Forked.tell("rename " + files.rename(file, moved)));
        tell(() -> {
          files.rename(moved, file, Options.Rename.NONE);
          Forked.tell("rename by FileContext");
        });
        tell(() -> {
          files.create(moved, false).close();
          files.rename(file, moved, Options.Rename.OVERWRITE);
          Forked.tell("rename over a file");
        });
        tell(() -> {
          files.create(moved, true).close();
          Forked.tell("replace");
        });
        tell(() -> Forked.tell("delete " + files.delete(moved, false)));
      }
    }
  }

  /** Fails to replace a file that may not be changed by a new one on an OST that is away. */
  static final class CannotReplace {
    private CannotReplace() {}

    /** MOUNT; prints the error. */
    public static void main(String[] args) throws Exception {
      Configuration conf = new Configuration();
      conf.set("vas.lustre.mount", args[0]);
      conf.setBoolean("vas.layout.required", false);
      try (LustreFileSystem files = new LustreFileSystem()) {
        files.initialize(TestMount.ROOT_URI, conf);
        tell(() -> files.create(new Path("/onaway-directory/tree"), true).close());
      }
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
