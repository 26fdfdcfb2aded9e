package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OstFaultsTest {
  private static final org.apache.hadoop.fs.Path DIRECTORY =
      new org.apache.hadoop.fs.Path("lustre:/dir");

  private final OstFaults faults = new OstFaults(new LustreFiles(TestMount.MDS));
  private Path file;

  @BeforeEach
  void fileOnTwoOsts() throws IOException {
    Configuration conf = TestMount.configuration();
    file = Files.createFile(Files.createDirectory(TestMount.mount(conf).resolve("dir"))
        .resolve("entry"));
    TestMount.MDS.put(file, LovBytes.plain(1 << 20, 1, 10));
  }

  private FileSystemException shutdown() {
    return new FileSystemException(
        file.toString(), null, Libc.errorText(Errno.ESHUTDOWN.number()));
  }

  /** The list of a directory fails by one entry: file and OSTs are told, not the directory alone. */
  @Test
  void R4_anErrorNamesTheFileAndItsOsts() {
    IOException e = assertThrows(IOException.class, () -> IoErrors.reading(DIRECTORY,
        () -> faults.naming(() -> {
          throw shutdown();
        })));
    assertEquals("lustre:/dir: " + file + ": ESHUTDOWN (Cannot send after transport endpoint"
        + " shutdown); its bytes are on OST0001, OST000a; the server is away, or evicted this"
        + " client: see 'lfs check servers' and dmesg", e.getMessage());
    ErrnoException cause = (ErrnoException) e.getCause();
    assertEquals(Optional.of(Errno.ESHUTDOWN), cause.errno());
    assertEquals(List.of("OST0001", "OST000a"), cause.osts());
  }

  @Test
  void R4_anErrorOfAReadNamesTheOstOfItsBytes() {
    IOException e = IoErrors.explained(DIRECTORY, "read at 1048576",
        faults.of(file, "read", 1 << 20, 100, new IOException(Libc.errorText(5))));
    assertTrue(e.getMessage().startsWith("lustre:/dir: read at 1048576: EIO (Input/output error);"
        + " its bytes are on OST000a; see dmesg"), e.getMessage());
  }

  @Test
  void R4_whatIsNoServersErrorAsksForNoLayout() {
    int before = TestMount.MDS.gets();
    IOException full = new IOException(Libc.errorText(Errno.ENOSPC.number()));
    assertSame(full, faults.of(file, "write", 0, 1, full));
    assertEquals(before, TestMount.MDS.gets());
  }

  @Test
  void R4_aFileThatIsGoneIsToldWithoutOsts() throws IOException {
    Files.delete(file);
    ErrnoException e =
        (ErrnoException) faults.of(file, "read", 0, 1, new IOException(Libc.errorText(108)));
    assertEquals(List.of(), e.osts());
    assertFalse(e.getMessage().contains("its bytes"), e.getMessage());
  }

  /** As a JVM in German gives it: the number counts, whatever the language. */
  @Test
  void N5_textsOfAnyLanguageAreTurnedBackByTheLibraryThatMadeThem() {
    assertEquals(Optional.of(Errno.ESHUTDOWN), Errno.in(
        "Senden nach Beenden des Kommunikationsendpunktes nicht möglich",
        Errno.texts(number -> number == 108
            ? "Senden nach Beenden des Kommunikationsendpunktes nicht möglich"
            : "Fehler " + number)::get));
    for (Errno errno : Errno.values()) {
      assertEquals(Optional.of(errno), Errno.in(Libc.errorText(errno.number())), errno.name());
    }
  }

  /** Java's own errors, in a process whose C library speaks German. */
  @Test
  void N5_whatJavaSaysInAnotherLanguageIsTurnedBack() throws IOException {
    try (Forked german = Forked.start(LongName.class,
        Map.of("LC_ALL", "C.UTF-8", "LANGUAGE", "de"), file.toString())) {
      String said = german.line();
      assumeFalse(said.startsWith("File name too long"), "no texts in German here: " + said);
      assertTrue(said.endsWith("=Optional[ENAMETOOLONG]=Optional[ENAMETOOLONG]"), said);
    }
  }

  /** Makes a file whose name is too long; prints what Java says, and which errno we make of it. */
  static final class LongName {
    private LongName() {}

    public static void main(String[] args) throws IOException {
      try {
        Files.createFile(Path.of(args[0] + "x".repeat(256)));
      } catch (FileSystemException e) {
        Forked.tell(e.getReason() + "=" + IoErrors.errno(e) + "="
            + Errno.mentionedIn(e.getMessage()));
      }
    }
  }

  @Test
  void N5_aPhraseInAPathIsNoError() {
    assertEquals(Optional.empty(), Errno.mentionedIn("/Disk quota exceeded/x"));
    assertEquals(Optional.empty(), Errno.in("/x: Disk quota exceeded"));
    assertEquals(Optional.of(Errno.EDQUOT), Errno.mentionedIn("/x: Disk quota exceeded"));
    assertEquals(Optional.of(Errno.EMFILE), Errno.mentionedIn("/x (Too many open files)"));
  }
}
