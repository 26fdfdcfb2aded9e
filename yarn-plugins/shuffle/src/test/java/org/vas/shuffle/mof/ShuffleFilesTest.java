package org.vas.shuffle.mof;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Makes one level of directories, and files for their owner alone, on several file systems. */
class ShuffleFilesTest {
  @TempDir
  private java.nio.file.Path directory;

  /** Hadoop's local one, one without its checksums, one that only FileContext knows, and ours. */
  private ShuffleFiles files(String kind) throws IOException {
    Configuration conf = new Configuration();
    conf.set("fs.own.impl", ObservedFileSystem.class.getName());
    conf.set("fs.viewfs.impl.disable.cache", "true");
    conf.set("fs.viewfs.mounttable.test.link./tmp", "file:/tmp");
    conf.set("fs.lustre.impl", "org.vas.filesystem.LustreFileSystem");
    conf.set("fs.lustre.impl.disable.cache", "true");
    conf.set("vas.lustre.mount", "/");
    conf.set("vas.locations", "none");
    conf.set("vas.layout.required", "false");
    String uri = kind.equals("viewfs") ? "viewfs://test/" : kind + ":///";
    return new ShuffleFiles(FileSystem.get(URI.create(uri), conf), operation -> {});
  }

  private Path path(ShuffleFiles fs, String name) {
    return new Path(fs.getUri().getScheme(), fs.getUri().getAuthority(),
        directory.resolve(name).toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", "own", "viewfs", "lustre"})
  void makesOneLevelAndNeverTheOneAbove(String kind) throws IOException {
    ShuffleFiles fs = files(kind);
    assertThrows(FileNotFoundException.class,
        () -> fs.makeDirectory(path(fs, "gone/shuffle")));
    assertThrows(IOException.class, () -> fs.createPrivate(path(fs, "gone/file"), 4096));
    assertFalse(Files.exists(directory.resolve("gone")));
    fs.makeDirectory(path(fs, "here"));
    fs.makeDirectory(path(fs, "here"));
    assertEquals("rwx------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("here"))));
    fs.createPrivate(path(fs, "here/file"), 4096).close();
    assertEquals("rw-------", PosixFilePermissions.toString(
        Files.getPosixFilePermissions(directory.resolve("here/file"))));
    assertThrows(IOException.class, () -> fs.createPrivate(path(fs, "here/file"), 4096));
    assertThrows(IOException.class, () -> fs.makeDirectory(path(fs, "here/file")));
  }

  @Test
  void errorsOfChangesNameTheFile() throws IOException {
    ShuffleFiles fs = files("own");
    IOException e = assertThrows(IOException.class,
        () -> fs.append(path(fs, "none"), 4096));
    assertTrue(e.getMessage().contains("none"), e::getMessage);
  }
}
