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
 * Tells classes that are installed on the nodes from classes of the same name that a job brings.
 *
 * <p>A job's jar may hold a class in one of Hadoop's packages that is not Hadoop's. The job's files
 * lie in its container's directory, and installed ones elsewhere. A jar of the job with the bytes
 * of an installed one brings nothing new. Only the job's other jars are opened: a master that
 * opened all would start half a second later.
 */
final class InstalledClasses {
  private final List<Path> brought = new ArrayList<>();

  /**
   * Sorts the entries of a class path into installed ones and the job's.
   *
   * @param classPath jars and directories; those that are not there are passed over
   * @param container the container's directory, where the job's files are
   * @param job names the Hadoop in the container that the job runs on, if it brings one
   * @throws IllegalArgumentException if {@code mapreduce.application.framework.path} is not a URI
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

  /**
   * Sorts the entries of this JVM's class path, of which relative ones lie below {@code container}.
   *
   * @throws IllegalArgumentException if {@code mapreduce.application.framework.path} is not a URI
   */
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

  /** Returns whether the job brings a class of that name in a file that the nodes do not have. */
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
