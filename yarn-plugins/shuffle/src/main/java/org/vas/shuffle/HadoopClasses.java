package org.vas.shuffle;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the classes of the Hadoop that runs this task from those that a job brings along.
 *
 * <p>A name says nothing: a job's jar may hold a package {@code org.apache.hadoop}, and the tasks of
 * a job have its jar on the class path of Hadoop's own. So a class must come from the class loader
 * and the very jar of one of Hadoop's central classes, and that jar must not be one of the job's:
 * with {@code mapreduce.job.user.classpath.first} a job's jar may hold Hadoop as well.
 */
public final class HadoopClasses {
  private static final String PACKAGE = "org.apache.hadoop.";
  /** One class of hadoop-common and one of hadoop-mapreduce-client-core. */
  private static final List<Class<?>> CENTRAL = List.of(Text.class, JobConf.class);
  private static final Logger LOG = LoggerFactory.getLogger(HadoopClasses.class);

  private HadoopClasses() {}

  /** Returns whether a class is Hadoop's own; false where its origin is not known. */
  public static boolean include(Class<?> kind) {
    return kind.getName().startsWith(PACKAGE)
        && CENTRAL.stream().anyMatch(central -> isBeside(kind, central));
  }

  private static boolean isBeside(Class<?> kind, Class<?> central) {
    if (kind.getClassLoader() != central.getClassLoader()) {
      return false;
    }
    try {
      Path origin = origin(kind);
      return origin != null && origin.equals(origin(central)) && !isJobs(origin, Path.of(""));
    } catch (IOException e) {
      LOG.warn("Cannot tell whether {} is Hadoop's own; it is taken for the job's", kind, e);
      return false;
    }
  }

  // Without links: the JVM follows those of the class path, but not for classes of its archive.
  private static Path origin(Class<?> kind) throws IOException {
    CodeSource source = kind.getProtectionDomain().getCodeSource();
    URL place = source == null ? null : source.getLocation();
    try {
      return place == null ? null : Path.of(place.toURI()).toRealPath();
    } catch (URISyntaxException | IllegalArgumentException | FileSystemNotFoundException e) {
      throw new IOException(place + ": not a file", e);
    }
  }

  /**
   * Returns whether code at this real path is a job's. YARN links a job's jar, its classes and its
   * lib as the directory job.jar into the container's working directory, and the jars of -libjars
   * and of the distributed cache beside it. A site's own Hadoop archive is a directory there.
   */
  static boolean isJobs(Path origin, Path workingDirectory) throws IOException {
    if (origin.equals(workingDirectory.toRealPath())) {
      return true;
    }
    List<Path> entries;
    try (Stream<Path> all = Files.list(workingDirectory)) {
      entries = all.filter(Files::exists).collect(Collectors.toList());
    }
    for (Path entry : entries) {
      Path real = entry.toRealPath();
      boolean jar = entry.getFileName().toString().equals(MRJobConfig.JOB_JAR);
      if (jar ? origin.startsWith(real) : origin.equals(real)) {
        return true;
      }
    }
    return false;
  }
}
