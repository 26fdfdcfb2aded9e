package org.vas.filesystem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;

/** A directory that stands for the Lustre mount of {@code cluster.yaml}, as seen from vm1, or is one. */
final class TestMount {
  static final URI ROOT_URI = URI.create("lustre:///");
  /** One for the process: Hadoop makes file systems by their class alone. */
  static final FakeMds MDS = new FakeMds();

  private TestMount() {}

  /** A configuration with a new, empty mount. */
  static Configuration configuration() {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", ROOT_URI.toString());
    conf.set("vas.lustre.mount", newDirectory().toString());
    return conf;
  }

  static FileSystem fileSystem(Configuration conf) throws IOException {
    return FileSystem.get(ROOT_URI, conf);
  }

  static FileContext fileContext(Configuration conf) throws IOException {
    return FileContext.getFileContext(ROOT_URI, conf);
  }

  static Path mount(Configuration conf) {
    return Path.of(conf.get("vas.lustre.mount"));
  }

  private static Path newDirectory() {
    try {
      String named = System.getProperty("vas.tests.mounts", "target/mounts");
      Path parent = Files.createDirectories(Path.of(named).toAbsolutePath());
      return Files.createTempDirectory(parent, "m");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file system that Hadoop makes for {@code lustre:} in tests. */
  public static final class OnFakeMds extends LustreFileSystem {
    public OnFakeMds() {
      super(MDS);
    }
  }

  /** The file system that {@code FileContext} makes for {@code lustre:} in tests. */
  public static final class FsOnFakeMds extends LustreFs {
    public FsOnFakeMds(URI uri, Configuration conf) throws IOException, URISyntaxException {
      super(uri, new OnFakeMds(), conf);
    }
  }
}
