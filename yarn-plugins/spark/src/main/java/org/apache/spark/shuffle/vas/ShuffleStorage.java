package org.apache.spark.shuffle.vas;

import static java.util.Objects.requireNonNull;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.vas.filesystem.LustreConf;
import org.vas.filesystem.LustreFileSystem;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * The directory of the user's shuffle files on Lustre: in it one directory for each application, in
 * that one for each shuffle, in that two files for each map attempt. Directories have mode 0700.
 *
 * <p>Both ways to name the directory end in a {@link LustreFileSystem}, which follows no link below
 * it and opens only files of the directory's owner.
 */
final class ShuffleStorage {
  private static final FsPermission PRIVATE = new FsPermission((short) 0700);

  private final LustreFileSystem lustre;
  private final ShuffleFiles files;
  private final Path root;

  private ShuffleStorage(LustreFileSystem lustre, Path root) {
    this.lustre = requireNonNull(lustre, "lustre");
    this.files = new ShuffleFiles(lustre, operation -> {});
    this.root = requireNonNull(root, "root");
  }

  /**
   * Finds the directory; makes nothing.
   *
   * @param directory a POSIX path that every node mounts, or {@code lustre:///...}
   * @throws IOException if the name is neither, or the file system cannot be used
   */
  static ShuffleStorage at(String directory, Configuration site) throws IOException {
    Path named = new Path(directory);
    String scheme = named.toUri().getScheme();
    Configuration conf = new Configuration(site);
    if (scheme == null || scheme.equals("file")) {
      java.nio.file.Path path = java.nio.file.Path.of(named.toUri().getPath()).normalize();
      java.nio.file.Path above = path.getParent();
      if (!path.isAbsolute() || above == null) {
        throw new IOException(VasSparkConf.DIRECTORY + " is '" + directory
            + "': it must be an absolute path below the mount of Lustre");
      }
      conf.set(LustreConf.MOUNT.name(), above.toString());
      conf.set(LustreConf.LOCATIONS.name(), "none");
      conf.setBoolean(LustreConf.LAYOUT_REQUIRED.name(), false);
      named = new Path("/", path.getFileName().toString());
    } else if (!scheme.equals("lustre")) {
      throw new IOException(VasSparkConf.DIRECTORY + " is '" + directory
          + "': it must be a path below the mount of Lustre, or lustre:///...");
    }
    conf.set(LustreConf.PRIVATE_PATHS.name(), PredictableNames.SPARK_MAPS);
    conf.set(LustreConf.LAZY_PATHS.name(), PredictableNames.SPARK_MAPS);
    URI uri = named.toUri().getAuthority() == null
        ? URI.create("lustre:///") : URI.create("lustre://" + named.toUri().getAuthority());
    LustreFileSystem fs = new LustreFileSystem();
    fs.initialize(uri, conf);
    return new ShuffleStorage(fs, fs.makeQualified(named));
  }

  /**
   * Makes the directory of an application, and the user's if it is not there.
   *
   * @param application Spark's name of it; two lives of one driver get two directories
   * @throws IOException if the user's directory is a link, or not the user's alone
   */
  ApplicationFiles makeApplication(String application) throws IOException {
    if (!application.matches("[A-Za-z0-9_-]+")) {
      throw new IOException("the application's id '" + application + "' cannot be a file's name");
    }
    makeRoot();
    String name = application + "-" + Long.toUnsignedString(ThreadLocalRandom.current().nextLong());
    files.makeDirectory(new Path(root, name));
    return application(name);
  }

  /** Returns the files of the application whose directory has this name. */
  ApplicationFiles application(String name) {
    return new ApplicationFiles(files, new Path(root, name));
  }

  private void makeRoot() throws IOException {
    try {
      checkRoot(lustre.getFileLinkStatus(root));
    } catch (FileNotFoundException e) {
      lustre.mkdir(root, PRIVATE);
      checkRoot(lustre.getFileLinkStatus(root));
    }
  }

  private void checkRoot(FileStatus found) throws IOException {
    String problem = null;
    if (found.isSymlink() || !found.isDirectory()) {
      problem = "is not a directory itself; name one";
    } else if (found.getPermission().getGroupAction().implies(FsAction.WRITE)
        || found.getPermission().getOtherAction().implies(FsAction.WRITE)) {
      problem = "may be written by others: 'chmod 700' it, or name another one";
    }
    if (problem != null) {
      throw new IOException(VasSparkConf.DIRECTORY + ": " + root + " " + problem);
    }
  }
}
