package org.vas.shuffle.reduce;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.nio.file.NoSuchFileException;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.fs.ChecksumException;
import org.vas.filesystem.Errno;
import org.vas.filesystem.ErrnoException;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.ManifestException;

/** The party to blame when a map output cannot be read. */
enum OutputDiagnosis {
  /** This one output: its map has to run again. */
  BAD_MAP,
  /**
   * The OST that holds the output is away, or its disk is damaged. The maps with outputs on it have
   * to run again if no other OST fails; if two fail, the file system is sick.
   */
  ONE_OST,
  /** This node's own daemon or network: the reduce attempt fails here, and no map is run again. */
  THIS_NODE,
  /** The file system, or something unknown: the reduce attempt fails, and no map is run again. */
  SICK_FILE_SYSTEM;

  private static final Set<Errno> OF_ONE_OST = EnumSet.of(
      Errno.EIO, Errno.ENODEV, Errno.ENOTCONN, Errno.ESHUTDOWN, Errno.ETIMEDOUT, Errno.EHOSTDOWN);
  // Java puts them into messages even of "not found".
  private static final Set<Errno> SICK = EnumSet.of(
      Errno.EPERM, Errno.EINTR, Errno.EAGAIN, Errno.ENOMEM, Errno.EACCES, Errno.ENFILE,
      Errno.EMFILE, Errno.ENOSPC, Errno.EROFS, Errno.ESTALE, Errno.EDQUOT);
  private static final List<Class<? extends Throwable>> ONE_OUTPUT =
      List.of(BadOutputException.class, ManifestException.class, FileNotFoundException.class,
          NoSuchFileException.class, EOFException.class, ChecksumException.class);

  static OutputDiagnosis of(Throwable error) {
    Set<Errno> errnos = EnumSet.noneOf(Errno.class);
    chain(error).flatMap(each -> errno(each).stream()).forEach(errnos::add);
    if (errnos.stream().anyMatch(SICK::contains)) {
      return SICK_FILE_SYSTEM;
    }
    if (errnos.stream().anyMatch(OF_ONE_OST::contains)) {
      return ONE_OST;
    }
    return ONE_OUTPUT.stream().anyMatch(kind -> kind.isInstance(error))
        ? BAD_MAP : SICK_FILE_SYSTEM;
  }

  /**
   * Returns the OSTs that an error is about, as the file system tells them; none where it does not.
   */
  static Set<String> osts(Throwable error) {
    return chain(error).filter(ErrnoException.class::isInstance)
        .map(each -> Set.copyOf(((ErrnoException) each).osts()))
        .filter(osts -> !osts.isEmpty()).findFirst().orElse(Set.of());
  }

  // The number where there is one; else, of other file systems than ours, what the message says.
  private static Optional<Errno> errno(Throwable error) {
    return error instanceof ErrnoException
        ? ((ErrnoException) error).errno() : Errno.mentionedIn(error.getMessage());
  }

  private static Stream<Throwable> chain(Throwable error) {
    return Stream.iterate(error, each -> each != null, Throwable::getCause);
  }
}
