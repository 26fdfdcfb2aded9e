package org.vas.shuffle.node;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the jobs of a NodeManager in its recovery directory, for its next life: one file each,
 * which only its user reads, next to the database where stock keeps the same secrets.
 */
final class JobSecretFiles {
  private static final Logger LOG = LoggerFactory.getLogger(JobSecretFiles.class);
  private static final String WRITING = ".new";
  private static final FileAttribute<Set<PosixFilePermission>> OWN_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<Set<PosixFilePermission>> OWN_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final Path directory;

  /**
   * Makes the directory if it is not there; the one above it must be there.
   *
   * @throws IOException if it cannot be made, or others can read or change it
   */
  JobSecretFiles(Path directory) throws IOException {
    this.directory = directory;
    if (!Files.isDirectory(directory)) {
      Files.createDirectory(directory, OWN_DIRECTORY);
    }
    PosixFileAttributes found = Files.readAttributes(
        directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    boolean isOwn = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS)
        .equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    boolean isOpen = found.permissions().stream().anyMatch(each -> !each.name().startsWith("OWNER"));
    if (!found.isDirectory() || !isOwn || isOpen) {
      throw new IOException(directory + " must be a directory of this user alone: chmod 700");
    }
  }

  /** Writes the line that a daemon is told of a job. */
  void put(ApplicationId application, String line) throws IOException {
    Path file = directory.resolve(application.toString());
    Path writing = directory.resolve(application + WRITING);
    Files.deleteIfExists(writing);
    Files.createFile(writing, OWN_FILE);
    Files.writeString(writing, line, StandardCharsets.US_ASCII, StandardOpenOption.WRITE);
    Files.move(writing, file, StandardCopyOption.ATOMIC_MOVE);
  }

  void remove(ApplicationId application) throws IOException {
    Files.deleteIfExists(directory.resolve(application.toString()));
  }

  /**
   * Returns the lines that earlier lives kept, by application; skips files that are not a job's.
   */
  Map<ApplicationId, String> all() throws IOException {
    Map<ApplicationId, String> found = new LinkedHashMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "application_*")) {
      for (Path file : files) {
        try {
          ApplicationId application = ApplicationId.fromString(file.getFileName().toString());
          String line = Files.readString(file, StandardCharsets.US_ASCII);
          if (JobLine.isOf(application, line)) {
            found.put(application, line);
          } else {
            LOG.warn("{} is not what was written, and is left out", file);
          }
        } catch (IllegalArgumentException e) {
          LOG.info("{} was not written to its end, and is left out", file);
        } catch (IOException e) {
          LOG.error("{} cannot be read, and is left out", file, e);
        }
      }
    }
    return found;
  }
}
