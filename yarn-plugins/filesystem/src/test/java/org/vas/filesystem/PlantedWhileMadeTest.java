package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Native;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.vas.layout.LayoutRequest;

/**
 * Makes files while somebody who may write the directory takes a new file's name before it is
 * opened.
 */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlantedWhileMadeTest {
  private Path victim;

  /** Puts something in the place of a new file. */
  interface Planter {
    void plant(Path file, Path victim) throws IOException;
  }

  enum What implements Planter {
    LINK {
      @Override
      public void plant(Path file, Path victim) throws IOException {
        Files.createSymbolicLink(file, victim);
      }
    },
    HARD_LINK {
      @Override
      public void plant(Path file, Path victim) throws IOException {
        Files.createLink(file, victim);
      }
    },
    FIFO_WITHOUT_A_READER {
      @Override
      public void plant(Path file, Path victim) throws IOException {
        Native.load(Libc.Calls.class)
            .mknod((file + "\0").getBytes(StandardCharsets.UTF_8), 0010666, 0);
      }
    },
    DIRECTORY {
      @Override
      public void plant(Path file, Path victim) throws IOException {
        Files.createDirectory(file);
      }
    }
  }

  /** Plants in the moment between mknod and open: when the layout is set. */
  private static final class Planting implements ClientCalls {
    private final FakeMds mds = new FakeMds();
    private final Planter planter;
    private final Path victim;
    private Path taken;
    private Path real;

    Planting(Planter planter, Path victim) {
      this.planter = planter;
      this.victim = victim;
    }

    @Override
    public byte[] get(Path file, String name) throws ErrnoException {
      if (real == null) {
        return mds.get(file, name);
      }
      byte[] layout = mds.get(file, name);
      try {
        planter.plant(taken, victim);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return layout;
    }

    @Override
    public void set(Path file, String name, byte[] value) throws ErrnoException {
      mds.set(file, name, value);
      try {
        taken = Descriptor.shown(file);
        real = Files.move(taken, victim.resolveSibling("moved"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void mknod(Path file, int mode) throws IOException {
      mds.mknod(file, mode);
    }
  }

  private LustreFileSystem fileSystem(Planter planter) throws IOException {
    Configuration conf = TestMount.configuration();
    Path mount = TestMount.mount(conf);
    victim = Files.writeString(
        Files.createDirectory(mount.resolve("victim")).resolve("precious"), "precious");
    Files.createDirectory(mount.resolve("project"));
    LustreFileSystem fs = new LustreFileSystem(new Planting(planter, victim));
    fs.initialize(TestMount.ROOT_URI, conf);
    return fs;
  }

  @ParameterizedTest
  @EnumSource
  void D3_whatTakesTheNameOfANewFileIsNotWritten(What what) throws IOException {
    try (LustreFileSystem fs = fileSystem(what)) {
      String message = assertThrows(PlantedException.class, () ->
          fs.create(new org.apache.hadoop.fs.Path("/project/new"), false).close()).getMessage();
      assertTrue(message.contains("/project/new: was just made, and is "), message);
      assertEquals("precious", Files.readString(victim));
      assertTrue(Files.exists(
          victim.getParent().resolveSibling("project/new"), LinkOption.NOFOLLOW_LINKS),
          "what is not ours is not removed");
    }
  }

  /** Plants a link as soon as the file is there: before its layout is set. */
  private static final class PlantingAtOnce implements ClientCalls {
    private final FakeMds mds = new FakeMds();
    private final Path victim;

    PlantingAtOnce(Path victim) {
      this.victim = victim;
    }

    @Override
    public byte[] get(Path file, String name) throws ErrnoException {
      return mds.get(file, name);
    }

    @Override
    public void set(Path file, String name, byte[] value) throws ErrnoException {
      mds.set(file, name, value);
    }

    @Override
    public void mknod(Path file, int mode) throws IOException {
      mds.mknod(file, mode);
      Files.move(file, victim.resolveSibling("moved"));
      Files.createSymbolicLink(file, victim);
    }
  }

  @Test
  void D3_noLayoutIsSetThroughALinkInTheNewFilesPlace() throws IOException {
    fileSystem(What.LINK).close();
    PlantingAtOnce calls = new PlantingAtOnce(victim);
    Path link = victim.getParent().resolveSibling("project/new");
    LayoutRequest request = LayoutRequest.stripes(1 << 20, 1);
    String message = assertThrows(PlantedException.class,
        () -> new LustreFiles(calls).create(link, 0644, request, true)).getMessage();
    assertTrue(message.contains("/project/new: was just made, and is a symbolic link"), message);
    assertThrows(ErrnoException.class, () -> calls.get(victim, "lustre.lov"), "no layout was set");
    assertTrue(Files.isSymbolicLink(link), "what is not ours is not removed");
  }

  /** Its user's own file, in the new one's place before anybody knows what the new one is. */
  @Test
  void D3_aFileWithBytesThatIsMovedIntoTheNewFilesPlaceIsNotWritten() throws IOException {
    fileSystem(What.LINK).close();
    Path mount = victim.getParent().getParent();
    Files.setPosixFilePermissions(
        mount.resolve("project"), PosixFilePermissions.fromString("rwxrwxrwx"));
    Configuration conf = TestMount.configuration();
    conf.set("vas.lustre.mount", mount.toString());
    ClientCalls moving = new FakeMds() {
      @Override
      public void mknod(Path file, int mode) throws IOException {
        super.mknod(file, mode);
        Files.move(file, victim.resolveSibling("moved"));
        Files.move(victim, file);
      }
    };
    try (LustreFileSystem fs = new LustreFileSystem(moving)) {
      conf.set("vas.lustre.stripe-count", "0");
      fs.initialize(TestMount.ROOT_URI, conf);
      assertThrows(PlantedException.class, () ->
          fs.create(new org.apache.hadoop.fs.Path("/project/new"), false).close());
    }
    assertEquals("precious", Files.readString(mount.resolve("project/new")));
  }

  static Stream<String> names() {
    return Stream.of("fifo", "socket", "null");
  }

  @ParameterizedTest
  @MethodSource("names")
  void D3_readingWhatIsNoRegularFileBlocksNobody(String name) throws IOException {
    Configuration conf = TestMount.configuration();
    Path file = TestMount.mount(conf).resolve(name);
    int type = name.equals("fifo") ? 0010000 : name.equals("socket") ? 0140000 : 0020000;
    Native.load(Libc.Calls.class).mknod(
        (file + "\0").getBytes(StandardCharsets.UTF_8), type | 0666, 0x103);
    try (LustreFileSystem fs = new LustreFileSystem(TestMount.MDS)) {
      fs.initialize(TestMount.ROOT_URI, conf);
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/" + name);
      for (Executable call
          : new Executable[] {
              () -> fs.open(path), () -> fs.append(path), () -> fs.truncate(path, 0)}) {
        String message = assertThrows(IOException.class, call).getMessage();
        assertTrue(message.contains(name) && message.contains("not a regular file"), message);
      }
    }
  }
}
