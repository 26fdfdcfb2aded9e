package org.vas.app;

import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Tells the classes that the nodes have from copies of them that a job brings.
 *
 * <p>A job's jar may hold a class of Hadoop's package that is not Hadoop's. YARN puts what a job
 * brings into its container's directory, and the rest of the class path lies elsewhere.
 */
final class InstalledClasses {
  private final ClassLoader loader;
  private final Path container;
  private final Optional<Path> framework;

  /** Looks into the class path of a loader, in a container's directory, for the job's files. */
  InstalledClasses(ClassLoader loader, Path container, Configuration job) {
    this.loader = loader;
    this.container = container;
    this.framework = Optional.ofNullable(job.get(MRJobConfig.MAPREDUCE_APPLICATION_FRAMEWORK_PATH))
        .filter(path -> !path.isBlank()).map(path -> container.resolve(link(path)));
  }

  /** The name of a localised Hadoop's directory, as Hadoop's MRApps finds it. */
  private static String link(String path) {
    try {
      URI where = new URI(path);
      return where.getFragment() != null ? where.getFragment()
          : new org.apache.hadoop.fs.Path(where).getName();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          MRJobConfig.MAPREDUCE_APPLICATION_FRAMEWORK_PATH + ": " + path + " is not a URI", e);
    }
  }

  /**
   * Returns whether a JVM of the job would load the job's own file, other than any that the nodes
   * have: a jar whose bytes are those of an installed one is no other.
   *
   * @return false also where there is no such class
   */
  boolean isReplaced(String className) {
    try {
      List<Path> files = new ArrayList<>();
      String resource = className.replace('.', '/') + ".class";
      for (URL copy : Collections.list(loader.getResources(resource))) {
        fileOf(copy).ifPresent(files::add);
      }
      return !files.isEmpty() && isOfJob(files.get(0)) && !hasTwin(files);
    } catch (IOException e) {
      return true;
    }
  }

  /** The jar or class file of a copy; empty for a class of the JDK, whose URL begins with jrt. */
  private static Optional<Path> fileOf(URL copy) throws IOException {
    try {
      if (copy.getProtocol().equals("jar")) {
        return Optional.of(
            Path.of(((JarURLConnection) copy.openConnection()).getJarFileURL().toURI()));
      }
      return copy.getProtocol().equals("file") ? Optional.of(Path.of(copy.toURI()))
          : Optional.empty();
    } catch (URISyntaxException e) {
      throw new IOException(copy + " is not a URI", e);
    }
  }

  private boolean isOfJob(Path file) {
    return file.startsWith(container) && framework.map(own -> !file.startsWith(own)).orElse(true);
  }

  private boolean hasTwin(List<Path> files) throws IOException {
    for (Path file : files) {
      if (!isOfJob(file) && FileUtils.contentEquals(files.get(0).toFile(), file.toFile())) {
        return true;
      }
    }
    return false;
  }
}
