package org.vas.scheduler;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes each application's decisions to a file of its own, {@code DIRECTORY/USER/APPLICATION.log},
 * in a directory that its owner may read: see docs/placement.md. Used by one thread.
 *
 * <p>A file is created and never opened again, so nothing that somebody puts in its place is
 * written to: a ResourceManager that was restarted goes on in {@code APPLICATION.1.log}.
 */
final class DecisionFiles {
  /** The largest size of a file, in bytes. */
  static final long MOST_BYTES = 16 << 20;
  /** The most files that are open at once; the one that was written to longest ago is closed. */
  static final int MOST_OPEN = 256;
  /**
   * The age up to which a file is kept; a user's older files are removed, once an hour, when one is
   * created.
   */
  static final Duration KEPT = Duration.ofDays(30);
  private static final Duration BETWEEN_REMOVALS = Duration.ofHours(1);
  private static final int MOST_PARTS = 100;
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._@-]{0,254}\\$?");
  private static final Logger LOG = LoggerFactory.getLogger(DecisionFiles.class);

  private final Path directory;
  private final Runnable leftOut;
  /** Empty for an application whose file could not be created, or is full. */
  private final Map<ApplicationId, Optional<FileChannel>> open =
      new LinkedHashMap<>(16, 0.75f, true);
  /** A user's directory may hold a month of short jobs: it is not listed for each of them. */
  private final Map<Path, Instant> removedAt = new HashMap<>();

  DecisionFiles(Path directory, Runnable leftOut) {
    this.directory = directory;
    this.leftOut = leftOut;
  }

  /** Appends a line; a line that cannot be written is counted, and the reason is logged once. */
  void write(ApplicationId app, String user, String line) {
    try {
      Optional<FileChannel> file = open.get(app);
      if (file == null) {
        // Before the creation: one that fails is not tried again for each decision.
        put(app, Optional.empty());
        file = Optional.of(create(app, user));
        put(app, file);
      }
      append(file, line);
    } catch (IOException e) {
      LOG.warn("{}: its decisions are not kept for {} in {}: {}", app, user, directory, e.toString());
      forget(app);
      put(app, Optional.empty());
      leftOut.run();
    }
  }

  private void append(Optional<FileChannel> file, String line) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
    if (file.isEmpty()) {
      leftOut.run();
      return;
    }
    if (file.get().size() + bytes.remaining() > MOST_BYTES) {
      throw new IOException("the file has reached " + MOST_BYTES + " bytes");
    }
    while (bytes.hasRemaining()) {
      file.get().write(bytes);
    }
  }

  /** Closes the file of an application that is over. */
  void forget(ApplicationId app) {
    Optional<FileChannel> file = open.remove(app);
    if (file != null) {
      close(file);
    }
  }

  private void put(ApplicationId app, Optional<FileChannel> file) {
    open.put(app, file);
    if (open.size() > MOST_OPEN) {
      forget(open.keySet().iterator().next());
    }
  }

  private static void close(Optional<FileChannel> file) {
    try {
      if (file.isPresent()) {
        file.get().close();
      }
    } catch (IOException e) {
      LOG.warn("a file of decisions cannot be closed: {}", e.toString());
    }
  }

  private void removeOld(Path owners) {
    Instant now = Instant.now();
    Instant last = removedAt.get(owners);
    if (last != null && last.plus(BETWEEN_REMOVALS).isAfter(now)) {
      return;
    }
    removedAt.put(owners, now);
    FileTime oldest = FileTime.from(now.minus(KEPT));
    try (DirectoryStream<Path> files = Files.newDirectoryStream(owners, "application_*.log")) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).compareTo(oldest) < 0) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.warn("{}: old files of decisions stay: {}", owners, e.toString());
    }
  }

  private FileChannel create(ApplicationId app, String user) throws IOException {
    if (user == null || !PLAIN_NAME.matcher(user).matches()) {
      throw new IOException("the user's name cannot be the name of a directory");
    }
    Path owners = directory.resolve(user);
    if (!Files.isDirectory(owners, LinkOption.NOFOLLOW_LINKS)) {
      // Where the roles make it, this fails: only root may write beside.
      Files.createDirectory(owners,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    removeOld(owners);
    for (int part = 0; part < MOST_PARTS; part++) {
      try {
        return FileChannel.open(owners.resolve(app + (part == 0 ? "" : "." + part) + ".log"),
            StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      } catch (FileAlreadyExistsException earlier) {
        LOG.debug("{}: an earlier part is there", app, earlier);
      }
    }
    throw new IOException("the application already has " + MOST_PARTS + " files");
  }
}
