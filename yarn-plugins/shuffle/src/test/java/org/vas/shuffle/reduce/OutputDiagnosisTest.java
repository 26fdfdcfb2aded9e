package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.vas.shuffle.reduce.OutputDiagnosis.BAD_MAP;
import static org.vas.shuffle.reduce.OutputDiagnosis.ONE_OST;
import static org.vas.shuffle.reduce.OutputDiagnosis.SICK_FILE_SYSTEM;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.vas.filesystem.ErrnoException;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.ManifestException;

class OutputDiagnosisTest {
  @ParameterizedTest
  @MethodSource("table")
  void tellsOneBadMapFromASickFileSystem(Throwable error, OutputDiagnosis expected) {
    assertEquals(expected, OutputDiagnosis.of(error));
  }

  @Test
  void R5_theNumberCountsAndTheOstIsKnown() {
    Path file = Path.of("/x");
    for (int errno : new int[] {5, 19, 108, 110}) {
      ErrnoException number = new ErrnoException(file, "pread", errno, List.of("OST0001"));
      IOException error = new IOException("in no language", number);
      assertEquals(ONE_OST, OutputDiagnosis.of(error), number::getMessage);
      assertEquals(Set.of("OST0001"), OutputDiagnosis.osts(error));
    }
    assertEquals(SICK_FILE_SYSTEM,
        OutputDiagnosis.of(new IOException("x", new ErrnoException(file, "open", 116, List.of()))));
    assertEquals(Set.of(), OutputDiagnosis.osts(new IOException("Input/output error")));
  }

  @Test
  void N5_theNumberCountsWhateverThePathSays() {
    Path file = Path.of("/x (No space left on device)/y");
    assertEquals(ONE_OST, OutputDiagnosis.of(new ErrnoException(file, "pread", 5, List.of())));
  }

  static Stream<Arguments> table() {
    return Stream.of(
        Arguments.of(new BadOutputException("x: wrong checksum"), BAD_MAP),
        Arguments.of(new ManifestException("cut short: 3 bytes"), BAD_MAP),
        Arguments.of(new FileNotFoundException("/x (No such file or directory)"), BAD_MAP),
        Arguments.of(new FileNotFoundException("File /x does not exist"), BAD_MAP),
        Arguments.of(new NoSuchFileException("/x"), BAD_MAP),
        Arguments.of(new EOFException("/x"), BAD_MAP),
        Arguments.of(new EOFException(), BAD_MAP),
        Arguments.of(new ChecksumException("/x", 7), BAD_MAP),
        // A path may say anything.
        Arguments.of(new FileNotFoundException("/user/changsheng/x"), BAD_MAP),
        Arguments.of(new FileNotFoundException("/Disk quota exceeded/x"), BAD_MAP),
        // "Not found" is also what java.io says of a file that it may not or cannot open.
        Arguments.of(new FileNotFoundException("/x (Permission denied)"), SICK_FILE_SYSTEM),
        Arguments.of(new FileNotFoundException("/x (Input/output error)"), ONE_OST),
        Arguments.of(new FileNotFoundException("/x (Stale file handle)"), SICK_FILE_SYSTEM),
        Arguments.of(new FileNotFoundException("/x (Too many open files)"), SICK_FILE_SYSTEM),
        Arguments.of(new IOException("/x: read at 0: Input/output error"), ONE_OST),
        Arguments.of(new IOException("/x: Stale file handle"), SICK_FILE_SYSTEM),
        Arguments.of(new IOException("No space left on device"), SICK_FILE_SYSTEM),
        Arguments.of(new IOException("Disk quota exceeded"), SICK_FILE_SYSTEM),
        Arguments.of(new IOException("/x: Cannot send after transport endpoint shutdown"), ONE_OST),
        Arguments.of(new IOException("Connection timed out"), ONE_OST),
        Arguments.of(new IOException("No such device"), ONE_OST),
        Arguments.of(new FileSystemException("/x", null, "Read-only file system"),
            SICK_FILE_SYSTEM),
        Arguments.of(new AccessDeniedException("/x"), SICK_FILE_SYSTEM),
        Arguments.of(new AccessControlException("/x"), SICK_FILE_SYSTEM),
        Arguments.of(new BadOutputException("x", new IOException("Input/output error")),
            ONE_OST),
        Arguments.of(new IOException("Input/output error", new IOException("Stale file handle")),
            SICK_FILE_SYSTEM),
        // What nobody knows starts no map again.
        Arguments.of(new IOException("who knows"), SICK_FILE_SYSTEM),
        Arguments.of(new IOException(), SICK_FILE_SYSTEM),
        Arguments.of(new UncheckedIOException(new EOFException()), SICK_FILE_SYSTEM),
        Arguments.of(new OutOfMemoryError("Java heap space"), SICK_FILE_SYSTEM));
  }
}
