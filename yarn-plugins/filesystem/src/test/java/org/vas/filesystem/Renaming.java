package org.vas.filesystem;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A process of its own that renames its file to each of the names that others want too. */
final class Renaming {
  private Renaming() {}

  /** MOUNT, a number of names, and this process' own name; tells how many names it got. */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("vas.lustre.mount", args[0]);
    conf.set("vas.lustre.lazy-paths", ".*");
    FileSystem files = TestMount.fileSystem(conf);
    int won = 0;
    for (int name = 0; name < Integer.parseInt(args[1]); name++) {
      Path source = new Path("/" + args[2] + "-" + name);
      try (FSDataOutputStream out = files.create(source)) {
        out.writeBytes(args[2]);
      }
      won += files.rename(source, new Path("/target-" + name)) ? 1 : 0;
    }
    Forked.tell(won);
  }
}
