package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class StreamsTest {
  private static final Path FILE = new Path("/a");

  private Configuration conf;
  private FileSystem files;

  @BeforeEach
  void mount() throws IOException {
    conf = TestMount.configuration();
    conf.set("vas.lustre.buffer-size", "4k");
    files = TestMount.fileSystem(conf);
  }

  private java.nio.file.Path local() {
    return TestMount.mount(conf).resolve("a");
  }

  @Test
  void anInterruptedThreadGoesOnReadingAndWriting() throws IOException {
    byte[] data = {1, 2, 3};
    Thread.currentThread().interrupt();
    try (FSDataOutputStream out = files.create(FILE)) {
      out.write(data);
      out.hflush();
      assertTrue(Thread.currentThread().isInterrupted());
      out.write(data);
    }
    byte[] got = new byte[6];
    try (FSDataInputStream in = files.open(FILE)) {
      in.readFully(0, got);
    }
    assertTrue(Thread.interrupted());
    assertArrayEquals(new byte[] {1, 2, 3, 1, 2, 3}, got);
  }

  @Test
  void anInterruptedThreadTruncates() throws IOException {
    Files.write(local(), new byte[] {1, 2, 3});
    Thread.currentThread().interrupt();
    boolean done = files.truncate(FILE, 2);
    assertTrue(Thread.interrupted());
    assertTrue(done);
    assertArrayEquals(new byte[] {1, 2}, Files.readAllBytes(local()));
  }

  @Test
  void writesOfAllSizesArriveInOrder() throws IOException {
    Random random = new Random(1);
    byte[] data = new byte[5 << 20];
    random.nextBytes(data);
    try (FSDataOutputStream out = files.create(FILE)) {
      int position = 0;
      while (position < data.length) {
        int bound = random.nextInt(10) == 0 ? 3 << 20 : 5000;
        int length = Math.min(data.length - position, random.nextInt(bound));
        out.write(data, position, length);
        position += length;
      }
    }
    assertArrayEquals(data, Files.readAllBytes(local()));
  }

  @Test
  void appendsAfterWhatIsThere() throws IOException {
    Files.write(local(), new byte[] {1, 2});
    try (FSDataOutputStream out = files.append(FILE)) {
      assertEquals(2, out.getPos());
      out.write(3);
    }
    assertArrayEquals(new byte[] {1, 2, 3}, Files.readAllBytes(local()));
  }

  @Test
  void flushMakesBytesVisibleToOthers() throws IOException {
    try (FSDataOutputStream out = files.create(FILE)) {
      out.write(7);
      assertEquals(0, Files.size(local()));
      out.flush();
      assertEquals(1, Files.size(local()));
      assertTrue(out.hasCapability(StreamCapabilities.HSYNC));
    }
  }

  @Test
  void seeksWithinAndBeyondTheBuffer() throws IOException {
    byte[] data = new byte[20_000];
    new Random(2).nextBytes(data);
    Files.write(local(), data);
    Random random = new Random(3);
    try (FSDataInputStream in = files.open(FILE)) {
      for (int i = 0; i < 2000; i++) {
        int at = random.nextInt(data.length);
        in.seek(at);
        assertEquals(data[at] & 0xFF, in.read());
        int length = Math.min(random.nextInt(300), data.length - at - 1);
        ByteBuffer got = ByteBuffer.allocate(length);
        in.readFully(at + 1, got);
        assertEquals(ByteBuffer.wrap(data, at + 1, length), got.flip());
        assertEquals(at + 1, in.getPos());
      }
    }
  }

  @Test
  void readsWhatWasAppendedMeanwhile() throws IOException {
    Files.write(local(), new byte[] {1});
    try (FSDataInputStream in = files.open(FILE)) {
      assertEquals(1, in.read());
      assertEquals(-1, in.read());
      Files.write(local(), new byte[] {2}, StandardOpenOption.APPEND);
      assertEquals(2, in.read());
    }
  }

  private LustreOutputStream streamTo(String device) throws IOException {
    Files.createSymbolicLink(local(), java.nio.file.Path.of(device));
    OpenFile file = OpenFile.of(local(), StandardOpenOption.WRITE);
    return new LustreOutputStream(FILE, file, 0, 4096, true);
  }

  private static void assertIncomplete(LustreOutputStream out, String error) {
    for (Executable call : List.<Executable>of(
        () -> out.write(1), () -> out.write(new byte[9000]), out::hsync, out::close)) {
      String message = assertThrows(IOException.class, call).getMessage();
      assertTrue(message.startsWith("/a: not complete after an earlier error: /a: " + error),
          message);
    }
  }

  // The bytes of a large write are in no buffer: nothing would try them again.
  @Test
  void afterAFailedWriteEveryLaterCallFails() throws IOException {
    LustreOutputStream out = streamTo("/dev/full");
    assertThrows(IOException.class, () -> out.write(new byte[9000]));
    assertIncomplete(out, "write: ENOSPC");
  }

  // After a failed fsync the kernel holds the lost pages for clean.
  @Test
  void afterAFailedSyncEveryLaterCallFails() throws IOException {
    LustreOutputStream out = streamTo("/dev/null");
    out.write(1);
    assertThrows(IOException.class, out::hsync);
    assertIncomplete(out, "fsync: EINVAL");
  }

  @Test
  void theFirstErrorIsTheOneThatTryWithResourcesThrows() throws IOException {
    IOException error = assertThrows(IOException.class, () -> {
      try (LustreOutputStream out = streamTo("/dev/full")) {
        out.write(new byte[9000]);
      }
    });
    assertTrue(error.getMessage().startsWith("/a: write: ENOSPC"), error.getMessage());
  }

  @Test
  void anErrorNamesPathCallAndErrno() throws IOException {
    LustreOutputStream out = streamTo("/dev/full");
    out.write(1);
    IOException error = assertThrows(IOException.class, out::flush);
    assertEquals("/a: write: ENOSPC (No space left on device); 'lfs df -h' and 'lfs df -i' show"
        + " which OST or MDT is full", error.getMessage());
    assertThrows(IOException.class, out::close);
  }
}
