package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Errors name files, and never the descriptors of this process by which the files are opened. */
class ShownPathsTest {
  private static final Path FILE = new Path("/a");
  private static final Path OTHER = new Path("/b");
  private static final Path DIRECTORY = new Path("/directory");

  @Test
  void D3_errorsNameFilesAndNoDescriptors() throws IOException {
    Configuration conf = TestMount.configuration();
    java.nio.file.Path mount = TestMount.mount(conf);
    Files.createFile(mount.resolve("a"));
    Files.createFile(mount.resolve("b"));
    Files.createDirectory(mount.resolve("directory"));
    FileSystem files = TestMount.fileSystem(conf);
    FileContext context = TestMount.fileContext(conf);
    Map<String, Executable> calls = new TreeMap<>();
    calls.put("/b", () -> context.rename(FILE, OTHER));
    calls.put("/a: source and", () -> context.rename(FILE, FILE));
    calls.put("/directory", () -> context.rename(FILE, DIRECTORY, Rename.OVERWRITE));
    calls.put("/a/x", () -> files.mkdirs(new Path("/a/x")));
    calls.put("/a", () -> files.create(new Path("/a/y"), true));
    calls.put("/gone", () -> files.append(new Path("/gone")));
    for (Map.Entry<String, Executable> call : calls.entrySet()) {
      String message = assertThrows(IOException.class, call.getValue()).getMessage();
      assertFalse(message.contains("/proc/"), message);
      assertTrue(message.contains(call.getKey()), message);
    }
  }
}
