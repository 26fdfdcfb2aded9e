package org.apache.spark.shuffle.vas;

import static java.util.Objects.requireNonNull;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.vas.filesystem.LustreConf;
import org.vas.filesystem.LustreFileSystem;
import org.vas.filesystem.PredictableNames;
import org.vas.filesystem.WritableAbove;
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
  private static final String STAGING_KEY = MRJobConfig.MR_AM_STAGING_DIR;
  private static final String STAGING_DEFAULT = "/tmp/hadoop-yarn/staging";
  /** The user's, {@code .staging} in it, the job's, and {@code shuffle} in that. */
  private static final int LEVELS_OF_JOB = 4;

  private static final Pattern OF_YARN = Pattern.compile("application_(\\d+_\\d+)");

  private final LustreFileSystem lustre;
  private final ShuffleFiles files;
  private final String directory;
  private final Path root;
  private final int ours;

  private ShuffleStorage(LustreFileSystem lustre, String directory, Path root, int ours) {
    this.lustre = requireNonNull(lustre, "lustre");
    this.files = new ShuffleFiles(lustre, operation -> {});
    this.directory = requireNonNull(directory, "directory");
    this.root = requireNonNull(root, "root");
    this.ours = ours;
  }

  /**
   * Finds the directory that an application's configuration names; without one, its own directory in
   * the user's staging directory. There the janitor finds what a killed driver leaves, as it finds
   * what a job of MapReduce leaves. Makes nothing.
   *
   * @throws IOException if no directory is named and none can be found, or it cannot be used
   */
  static ShuffleStorage of(SparkConf conf) throws IOException {
    Configuration site = SparkHadoopUtil.get().newConfiguration(conf);
    String named = conf.get(VasSparkConf.DIRECTORY, "");
    return named.isEmpty() ? ofJob(conf.getAppId(), site) : at(named, site);
  }

  /** Finds the directory of an application of YARN in the current user's staging directory. */
  static ShuffleStorage ofJob(String application, Configuration site) throws IOException {
    Matcher id = OF_YARN.matcher(application);
    if (!id.matches()) {
      throw new IOException(VasSparkConf.DIRECTORY + " is not set, and '" + application
          + "' does not run on YARN: set the key to a directory of yours on Lustre");
    }
    // A JobConf reads mapred-site.xml too.
    JobConf jobs = new JobConf(site);
    Path staging = new Path(FileSystem.getDefaultUri(jobs).resolve(
        new Path(jobs.get(STAGING_KEY, STAGING_DEFAULT)).toUri()));
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    String below = String.join("/", user, PredictableNames.STAGING, "job_" + id.group(1),
        PredictableNames.SHUFFLE);
    return at(new Path(staging, below).toString(), LEVELS_OF_JOB, site);
  }

  /**
   * Finds a directory; makes nothing.
   *
   * @param directory a POSIX path that every node mounts, or {@code lustre:///...}
   * @throws IOException if the name is neither, or the file system cannot be used
   */
  static ShuffleStorage at(String directory, Configuration site) throws IOException {
    return at(directory, 1, site);
  }

  // `ours`: the number of directories at the end of the path that are made where they are not there.
  private static ShuffleStorage at(String directory, int ours, Configuration site)
      throws IOException {
    Path named = new Path(directory);
    String scheme = named.toUri().getScheme();
    Configuration conf = new Configuration(site);
    if (scheme == null || scheme.equals("file")) {
      java.nio.file.Path path = java.nio.file.Path.of(named.toUri().getPath()).normalize();
      if (!path.isAbsolute() || path.getNameCount() < ours) {
        throw new IOException(VasSparkConf.DIRECTORY + " is '" + directory
            + "': it must be an absolute path below the mount of Lustre");
      }
      int above = path.getNameCount() - ours;
      java.nio.file.Path mount =
          above == 0 ? path.getRoot() : path.getRoot().resolve(path.subpath(0, above));
      conf.set(LustreConf.MOUNT.name(), mount.toString());
      conf.set(LustreConf.LOCATIONS.name(), "none");
      conf.setBoolean(LustreConf.LAYOUT_REQUIRED.name(), false);
      named = new Path("/", mount.relativize(path).toString());
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
    return new ShuffleStorage(fs, directory, fs.makeQualified(named), ours);
  }

  /**
   * Makes the directory of an application, and the user's if it is not there.
   *
   * @param application Spark's name of it; two lives of one driver get two directories
   * @throws IOException if a directory above it is a link, or may be written by others
   */
  ApplicationFiles makeApplication(String application) throws IOException {
    if (!application.matches("[A-Za-z0-9_-]+")) {
      throw new IOException("the application's id '" + application + "' cannot be a file's name");
    }
    // The site's staging directory is its administrator's to protect, for jobs of MapReduce too.
    if (ours != LEVELS_OF_JOB) {
      WritableAbove.check(lustre, requireNonNull(root.getParent(), "a directory above"),
          VasSparkConf.DIRECTORY);
    }
    makeRoot(root, ours);
    String name = application + "-" + Long.toUnsignedString(ThreadLocalRandom.current().nextLong());
    files.makeDirectory(new Path(root, name));
    return application(name, 0);
  }

  /**
   * Returns the files of the application whose directory has this name.
   *
   * @param keptIndexes bytes of indexes that are kept in memory, at most
   */
  ApplicationFiles application(String name, long keptIndexes) {
    return new ApplicationFiles(files, new Path(root, name), new Path(directory, name).toString(),
        new IndexCache(keptIndexes));
  }

  /** Removes the directory of a job whose last application's files are gone; one in use stays. */
  void removeIfOfJob() throws IOException {
    if (ours == LEVELS_OF_JOB && lustre.listStatus(root).length == 0) {
      lustre.delete(root, false);
      lustre.delete(root.getParent(), false);
    }
  }

  private void makeRoot(Path made, int levels) throws IOException {
    if (levels > 1) {
      makeRoot(made.getParent(), levels - 1);
    }
    try {
      check(made, lustre.getFileLinkStatus(made));
    } catch (FileNotFoundException e) {
      if (levels > 1) {
        files.makeDirectory(made);
      } else {
        // The directory above the first one may be another user's: the site's staging directory.
        lustre.mkdir(made, PRIVATE);
      }
      check(made, lustre.getFileLinkStatus(made));
    }
  }

  private void check(Path made, FileStatus found) throws IOException {
    String problem = null;
    if (found.isSymlink() || !found.isDirectory()) {
      problem = "is not a directory itself; name one";
    } else if (found.getPermission().getGroupAction().implies(FsAction.WRITE)
        || found.getPermission().getOtherAction().implies(FsAction.WRITE)) {
      problem = "may be written by others: 'chmod 700' it, or name another one";
    }
    if (problem != null) {
      String what = ours == LEVELS_OF_JOB ? "the directory of map output, " + directory
          : VasSparkConf.DIRECTORY;
      throw new IOException(what + ": " + made + " " + problem);
    }
  }
}
