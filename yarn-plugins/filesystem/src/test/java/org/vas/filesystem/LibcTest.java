package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the real system calls, on whatever file system the build directory is. */
class LibcTest {
  private static final String ATTRIBUTE = "user.vas";

  private final Libc libc = new Libc();
  private Path directory;

  @BeforeEach
  void makeADirectory() throws IOException {
    directory = TestMount.mount(TestMount.configuration());
  }

  @Test
  void makesAFileThatMustNotExist() throws IOException {
    Path file = directory.resolve("a file");
    libc.mknod(file, 0600);
    assertTrue(FileAttributes.of(file).isRegularFile());
    ErrnoException error = assertThrows(ErrnoException.class, () -> libc.mknod(file, 0600));
    assertTrue(error.is(Errno.EEXIST));
    assertEquals(file + ": mknod: EEXIST (File exists)", error.getMessage());
  }

  @Test
  void makesAFileWithTheCallOfGlibcBefore233() throws IOException {
    Libc.Calls old = without("mknod");
    Path file = directory.resolve("f");
    Libc.mknod(old, file, 0600);
    assertTrue(FileAttributes.of(file).isRegularFile());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals(file + ": mknod: EEXIST (File exists)",
        assertThrows(ErrnoException.class, () -> Libc.mknod(old, file, 0600)).getMessage());
  }

  @Test
  void saysWhichCallTheLibraryLacks() {
    Path file = directory.resolve("f");
    IOException error = assertThrows(IOException.class,
        () -> Libc.mknod(without("mknod", "__xmknod"), file, 0600));
    assertEquals(file + ": this C library has neither mknod nor __xmknod; run the JVM with glibc",
        error.getMessage());
    assertTrue(assertThrows(ErrnoException.class,
        () -> Libc.renameNoReplace(without("renameat2"), file, file)).is(Errno.ENOSYS));
  }

  /** This C library as if it did not have some functions. */
  private static Libc.Calls without(String... missing) {
    FunctionMapper names = (library, method) -> List.of(missing).contains(method.getName())
        ? "vas_no_such_function" : method.getName();
    return Native.load(Libc.Calls.class, Map.of(Library.OPTION_FUNCTION_MAPPER, names));
  }

  @Test
  void keepsTheBytesOfAnAttribute() throws IOException {
    Path file = Files.createFile(directory.resolve("f"));
    assumeTrue(Files.getFileStore(file).supportsFileAttributeView("user"));
    assertTrue(assertThrows(ErrnoException.class, () -> libc.get(file, ATTRIBUTE))
        .is(Errno.ENODATA));
    byte[] value = {0, 1, -1, 0};
    libc.set(file, ATTRIBUTE, value);
    assertArrayEquals(value, libc.get(file, ATTRIBUTE));
  }

  @Test
  void readsAttributesOfTheLargestSize() throws IOException {
    Path file = Files.createFile(directory.resolve("f"));
    byte[] value = new byte[48_048];
    value[value.length - 1] = 1;
    try {
      libc.set(file, ATTRIBUTE, value);
    } catch (ErrnoException e) {
      abort("this file system has no such large attributes: " + e.getMessage());
    }
    assertArrayEquals(value, libc.get(file, ATTRIBUTE));
  }

  @Test
  void bothWaysToLookAtAFileGiveOneDevice() throws IOException {
    Path file = Files.createFile(directory.resolve("f"));
    assertTrue(FileAttributes.of(file).id().isSame(FileId.of(file)));
    // gnu_dev_makedev(0x12345, 0xabcde), as stat has it
    assertEquals(FileId.device(0x12345, 0xabcde), FileId.device(0x12000abc345deL));
  }

  @Test
  void renamesOverNothing() throws IOException {
    Path from = Files.createFile(directory.resolve("from"));
    Path to = directory.resolve("to");
    libc.renameNoReplace(from, to);
    Files.createFile(from);
    assertTrue(assertThrows(ErrnoException.class, () -> libc.renameNoReplace(from, to))
        .is(Errno.EEXIST));
  }
}
