package org.vas.app;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipException;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Tells the classes that the nodes have from copies of them that a job brings.
 *
 * <p>A job's jar may hold a class of Hadoop's package that is not Hadoop's. YARN puts what a job
 * brings into its container's directory, and the rest of the class path lies elsewhere. A jar of the
 * job with the bytes of one of the nodes' brings nothing new. No jar but the job's others is opened:
 * a master that opened all would start half a second later.
 */
final class InstalledClasses {
  private final List<Path> brought = new ArrayList<>();

  /**
   * Looks at a class path.
   *
   * @param classPath jars and directories; those that are not there are passed over
   * @param container the container's directory, where the job's files are
   * @param job says where in the container a Hadoop lies that the job runs on, if one does
   */
  InstalledClasses(List<Path> classPath, Path container, Configuration job) throws IOException {
    List<Path> installed = new ArrayList<>();
    List<Path> own = new ArrayList<>();
    String framework = job.get(MRJobConfig.MAPREDUCE_APPLICATION_FRAMEWORK_PATH, "").trim();
    for (Path entry : classPath) {
      boolean isOfJob = entry.startsWith(container)
          && (framework.isEmpty() || !entry.startsWith(container.resolve(link(framework))));
      (isOfJob ? own : installed).add(entry);
    }
    for (Path entry : own) {
      if (Files.isDirectory(entry) || (Files.exists(entry) && !isAmong(installed, entry))) {
        brought.add(entry);
      }
    }
  }

  /** Looks at this JVM's class path, in its container's directory. */
  static InstalledClasses ofThisJvm(Path container, Configuration job) throws IOException {
    List<Path> classPath = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      classPath.add(container.resolve(entry));
    }
    return new InstalledClasses(classPath, container, job);
  }

  /** The name of a localised Hadoop's directory, as Hadoop's MRApps finds it. */
  private static String link(String framework) {
    try {
      URI where = new URI(framework);
      return where.getFragment() != null ? where.getFragment()
          : new org.apache.hadoop.fs.Path(where).getName();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          MRJobConfig.MAPREDUCE_APPLICATION_FRAMEWORK_PATH + ": " + framework + " is not a URI", e);
    }
  }

  private static boolean isAmong(List<Path> installed, Path jar) throws IOException {
    for (Path other : installed) {
      if (Files.isRegularFile(other) && FileUtils.contentEquals(jar.toFile(), other.toFile())) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the job brings a class of that name, in a file that is none of the nodes'. */
  boolean isReplaced(String className) throws IOException {
    String resource = className.replace('.', '/') + ".class";
    for (Path entry : brought) {
      if (Files.isDirectory(entry) ? Files.exists(entry.resolve(resource)) : has(entry, resource)) {
        return true;
      }
    }
    return false;
  }

  private static boolean has(Path jar, String resource) throws IOException {
    try (JarFile open = new JarFile(jar.toFile())) {
      return open.getEntry(resource) != null;
    } catch (ZipException e) {
      // Java passes over it, too.
      return false;
    }
  }
}
