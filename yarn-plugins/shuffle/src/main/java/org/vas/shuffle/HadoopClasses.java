package org.vas.shuffle;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;

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
  private static final Path WORKING_DIRECTORY = Path.of("").toAbsolutePath();

  private HadoopClasses() {}

  /** Returns whether a class is Hadoop's own; false where its origin is not known. */
  public static boolean include(Class<?> kind) {
    return kind.getName().startsWith(PACKAGE)
        && CENTRAL.stream().anyMatch(central -> isBeside(kind, central));
  }

  private static boolean isBeside(Class<?> kind, Class<?> central) {
    String origin = origin(kind);
    return origin != null && kind.getClassLoader() == central.getClassLoader()
        && origin.equals(origin(central)) && !isJobs(origin, WORKING_DIRECTORY);
  }

  // As text: two URLs are compared by asking for the addresses of their hosts.
  private static String origin(Class<?> kind) {
    CodeSource source = kind.getProtectionDomain().getCodeSource();
    URL place = source == null ? null : source.getLocation();
    return place == null ? null : place.toString();
  }

  /**
   * Returns whether code at this URL is a job's. YARN puts a job's jar, its classes and its lib into
   * the directory job.jar of the container's working directory, and the jars of -libjars and of the
   * distributed cache beside it. A site's own Hadoop archive is unpacked in a directory of its own.
   */
  static boolean isJobs(String origin, Path workingDirectory) {
    try {
      Path place = Path.of(new URI(origin)).toAbsolutePath().normalize();
      // By directory and not by name: the class path may name it through a link.
      for (Path above = place.getParent(); above != null; above = above.getParent()) {
        if (Files.isSameFile(above, workingDirectory)) {
          Path inside = above.relativize(place);
          return inside.getNameCount() == 1 || inside.startsWith(MRJobConfig.JOB_JAR);
        }
      }
      return false;
    } catch (URISyntaxException | IllegalArgumentException | FileSystemNotFoundException
        | IOException e) {
      return true; // nothing is known of it
    }
  }
}
