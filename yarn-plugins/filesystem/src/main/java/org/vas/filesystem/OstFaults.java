package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.layout.LayoutException;
import org.vas.layout.StripeLayout;
import org.vas.layout.StripeRun;

/**
 * Names the OSTs in errors of storage servers: those that hold the bytes asked for, by the file's
 * layout, which the MDT gives even if the OSTs are away.
 */
final class OstFaults {
  private static final Logger LOG = LoggerFactory.getLogger(OstFaults.class);
  /** What a client gives for an OST that is away, or whose disk is damaged. */
  private static final Set<Errno> OF_SERVERS = EnumSet.of(
      Errno.EIO, Errno.ENODEV, Errno.ENOTCONN, Errno.ESHUTDOWN, Errno.ETIMEDOUT, Errno.EHOSTDOWN);
  private static final int MOST = 8;

  private final LustreFiles files;

  OstFaults(LustreFiles files) {
    this.files = requireNonNull(files, "files");
  }

  /** Runs a call; an error of a storage server becomes one that names file and OSTs. */
  <T> T naming(IoErrors.Call<T> call) throws IOException {
    try {
      return call.run();
    } catch (FileSystemException e) {
      Optional<Errno> errno = ofServer(e);
      if (errno.isEmpty() || e.getFile() == null) {
        throw e;
      }
      throw caused(Path.of(e.getFile()), "stat or open", errno.get(), 0, Long.MAX_VALUE, e);
    }
  }

  /**
   * Returns the error to throw for a failed call on bytes of an open file: it names their OSTs,
   * where a server failed.
   *
   * @param length bytes from {@code offset} that the call was about
   */
  IOException of(Path file, String call, long offset, long length, IOException error) {
    Optional<Errno> errno = ofServer(error);
    return errno.isEmpty() ? error : caused(file, call, errno.get(), offset, length, error);
  }

  private static Optional<Errno> ofServer(IOException error) {
    return IoErrors.errno(error).filter(OF_SERVERS::contains);
  }

  private ErrnoException caused(
      Path file, String call, Errno errno, long offset, long length, IOException cause) {
    ErrnoException error =
        new ErrnoException(file, call, errno.number(), osts(file, offset, length));
    error.initCause(cause);
    return error;
  }

  private List<String> osts(Path file, long offset, long length) {
    try {
      Optional<byte[]> bytes = files.layout(file);
      return bytes.isPresent()
          ? names(StripeLayout.decode(bytes.get()), offset, length) : List.of();
    } catch (IOException | LayoutException e) {
      LOG.debug("{}: its OSTs are not known", Descriptor.shown(file), e);
      return List.of();
    }
  }

  private static List<String> names(StripeLayout layout, long offset, long length) {
    Set<Integer> osts = new TreeSet<>();
    layout.forEachShare(offset, Math.min(length, Long.MAX_VALUE - offset), (ost, bytes) -> {
      if (ost != StripeRun.UNKNOWN && bytes > 0) {
        osts.add(ost);
      }
    });
    List<String> names = osts.stream().limit(MOST)
        .map(ost -> String.format("OST%04x", ost)).collect(Collectors.toList());
    if (osts.size() > MOST) {
      names.add(osts.size() - MOST + " more");
    }
    return names;
  }
}
