package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes directories whose entries are spread over several MDTs, by {@code lfs mkdir -c}, because no
 * system call makes them. Lustre lets only root make them unless {@code
 * mdt.*.enable_remote_dir_gid} says otherwise: a user who may not gets plain directories, and each
 * object warns of that once.
 */
final class StripedDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(StripedDirectories.class);
  // An MDT in recovery keeps lfs waiting for minutes, and a job's first maps with it.
  private static final Duration LONGEST = Duration.ofMinutes(2);

  private final String lfs;
  private final Pattern paths;
  private final int mdts;
  private final LinkGuard links;
  private final Duration longest;
  private final AtomicBoolean refused = new AtomicBoolean();

  /**
   * Makes an object that runs lfs for two minutes at most.
   *
   * @param lfs the program's name or path
   * @param paths whole paths within the file system that are striped
   * @param mdts how many MDTs each gets; 1 stripes none
   * @param links tells which directories are this process' own
   */
  StripedDirectories(String lfs, Pattern paths, int mdts, LinkGuard links) {
    this(lfs, paths, mdts, links, LONGEST);
  }

  /**
   * Makes an object that runs lfs for a given time at most.
   *
   * @param longest how long lfs may take for one directory
   */
  StripedDirectories(
      String lfs, Pattern paths, int mdts, LinkGuard links, Duration longest) {
    this.longest = requireNonNull(longest, "longest");
    this.lfs = requireNonNull(lfs, "lfs");
    this.paths = requireNonNull(paths, "paths");
    this.mdts = mdts;
    this.links = requireNonNull(links, "links");
  }

  /** Returns whether the site's patterns ask for a new directory at this path to be striped. */
  boolean include(String path) {
    return mdts > 1 && paths.matcher(path).matches();
  }

  /**
   * Makes a striped directory, or a plain one where this user may not make striped ones. A
   * directory that is there stays as it is.
   *
   * @param directory its path, perhaps by a handle of the directory above
   * @param mode the exact permission bits
   * @throws PlantedException when another has put something else in the new directory's place
   * @throws NoSuchFileException if the directory above is not there
   * @throws IOException also if lfs is missing, fails or does not end; the message names the key
   */
  void make(Path directory, int mode) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Path parent = directory.getParent();
    if (parent == null || !Files.isDirectory(parent)) {
      throw new NoSuchFileException(Descriptor.shown(directory).toString());
    }
    if (refused.get()) {
      Directories.makeOne(directory, mode, links);
      return;
    }
    Outcome outcome = run(directory);
    if (outcome.status == 0) {
      Directories.setMode(directory, mode, links);
    } else if (outcome.isNotPermitted()) {
      makePlain(directory, mode, outcome);
    } else if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(Descriptor.shown(directory) + ": cannot be striped over " + mdts + " MDTs: "
          + outcome.said + "; set " + LustreConf.MDT_COUNT.name()
          + " to what 'lfs mdts' lists, or to 1");
    }
  }

  private void makePlain(Path directory, int mode, Outcome outcome) throws IOException {
    Directories.makeOne(directory, mode, links);
    if (!refused.getAndSet(true)) {
      LOG.warn("{}: not striped over {} MDTs, because this user may not make striped directories:"
          + " {}; this process makes plain ones. On the MDSs, 'lctl set_param -P"
          + " mdt.*.enable_remote_dir_gid=-1' allows all users to (0, as Lustre comes: root alone);"
          + " or set {} to 1", Descriptor.shown(directory), mdts, outcome.said, LustreConf.MDT_COUNT.name());
    }
  }

  private Outcome run(Path directory) throws IOException {
    Process process = start(directory);
    process.getOutputStream().close();
    try {
      // Waited for first: to read until the end of its output would have no bound.
      if (!process.waitFor(longest.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        throw new IOException(Descriptor.shown(directory) + ": lfs mkdir has not ended after "
            + longest.toSeconds() + " s; see 'lfs check mdts', or set "
            + LustreConf.MDT_COUNT.name() + " to 1");
      }
      int status = process.exitValue();
      String said =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return new Outcome(status, said.isEmpty() ? "exit status " + status : said);
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException(Descriptor.shown(directory) + ": interrupted").initCause(e);
    }
  }

  private Process start(Path directory) throws IOException {
    try {
      ProcessBuilder program = new ProcessBuilder(
          List.of(lfs, "mkdir", "-c", Integer.toString(mdts),
              // Another process makes it, to which this one's handles mean nothing.
              Descriptor.shown(directory).toString()))
          .redirectErrorStream(true);
      program.environment().put("LC_ALL", "C");
      return program.start();
    } catch (IOException e) {
      throw new IOException(LustreConf.MDT_COUNT.name() + " is " + mdts
          + ", for which tasks need Lustre's lfs on their PATH: " + e.getMessage(), e);
    }
  }

  /** How lfs ended, by its exit status and what it printed. */
  private static final class Outcome {
    private final int status;
    private final String said;

    Outcome(int status, String said) {
      this.status = status;
      this.said = said;
    }

    // The status is the errno of the call that failed.
    boolean isNotPermitted() {
      return status == Errno.EPERM.number() || said.endsWith("Operation not permitted");
    }
  }
}
