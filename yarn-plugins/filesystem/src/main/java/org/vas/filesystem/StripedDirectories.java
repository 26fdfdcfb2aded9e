package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Directories whose entries are spread over several MDTs: {@code lfs mkdir -c}, because no system
 * call makes them.
 */
final class StripedDirectories {
  private final String lfs;
  private final Pattern paths;
  private final int mdts;

  /**
   * @param lfs the program's name or path
   * @param paths whole paths within the file system that are striped
   * @param mdts how many MDTs each gets; 1 stripes none
   */
  StripedDirectories(String lfs, Pattern paths, int mdts) {
    this.lfs = requireNonNull(lfs, "lfs");
    this.paths = requireNonNull(paths, "paths");
    this.mdts = mdts;
  }

  /** Whether a new directory of this path within the file system is to be one. */
  boolean include(String path) {
    return mdts > 1 && paths.matcher(path).matches();
  }

  /**
   * Makes one. One that is there stays as it is.
   *
   * @param mode the exact permission bits
   * @throws NoSuchFileException if the directory above is not there
   */
  void make(Path directory, int mode) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Path parent = directory.getParent();
    if (parent == null || !Files.isDirectory(parent)) {
      throw new NoSuchFileException(directory.toString());
    }
    String said = run(directory);
    if (said == null) {
      Modes.ensure(directory, mode);
    } else if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(directory + ": cannot be striped over " + mdts + " MDTs: " + said
          + "; set " + LustreConf.MDT_COUNT.name() + " to what 'lfs mdts' lists, or to 1");
    }
  }

  /** What it complains of; null when it was done. */
  private String run(Path directory) throws IOException {
    Process process = start(directory);
    process.getOutputStream().close();
    String said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    try {
      int status = process.waitFor();
      return status == 0 ? null : said.isEmpty() ? "exit status " + status : said;
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException(directory + ": interrupted").initCause(e);
    }
  }

  private Process start(Path directory) throws IOException {
    try {
      return new ProcessBuilder(
          List.of(lfs, "mkdir", "-c", Integer.toString(mdts), directory.toString()))
          .redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new IOException(LustreConf.MDT_COUNT.name() + " is " + mdts
          + ", for which tasks need Lustre's lfs on their PATH: " + e.getMessage(), e);
    }
  }
}
