package org.vas.filesystem;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContextTestWrapper;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystemTestWrapper;
import org.apache.hadoop.fs.SymlinkBaseTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Runs Hadoop's suite for symbolic links, through {@code FileContext} and {@code FileSystem}. */
@Tag("contract")
class SymlinkContractTest {
  abstract static class OnLustre extends SymlinkBaseTest {
    // The suite makes configurations of its own, and so meets the mount of core-site.xml.
    final Configuration conf = new Configuration();

    @BeforeEach
    void mount() throws IOException {
      Files.createDirectories(Path.of(conf.get(LustreConf.MOUNT.name())));
    }

    @Override
    protected String getScheme() {
      return LustreFileSystem.SCHEME;
    }

    @Override
    protected String testBaseDir1() {
      return "/links/test1";
    }

    @Override
    protected String testBaseDir2() {
      return "/links/test2";
    }

    @Override
    protected URI testURI() {
      return TestMount.ROOT_URI;
    }

    // The rest is left out for "file:" in the suite itself, and here for the same reasons:
    // the kernel follows links, so that a status has the path that was asked for ...
    @Override
    public void testStatLinkToFile() {}

    @Override
    public void testStatRelLinkToFile() {}

    @Override
    public void testAccessFileViaInterSymlinkRelTarget() {}

    // ... and a link on disk holds a path, not a URI with a scheme or an authority.
    @Override
    public void testCreateLinkUsingPartQualPath1() {}

    @Override
    public void testCreateLinkUsingPartQualPath2() {}

    @Override
    public void testCreateLinkUsingFullyQualPaths() {}
  }

  @Nested
  class ThroughFileContext extends OnLustre {
    @BeforeEach
    @Override
    public void setUp() throws Exception {
      FileSystem.enableSymlinks();
      wrapper = new FileContextTestWrapper(TestMount.fileContext(conf));
      super.setUp();
    }

    // These end by reading lustre:/PATH, and insist that a URI without an authority fails.
    @Override
    public void testCreateLinkUsingAbsPaths() {}

    @Override
    public void testCreateLinkUsingRelPaths() {}
  }

  @Nested
  class ThroughFileSystem extends OnLustre {
    @BeforeEach
    @Override
    public void setUp() throws Exception {
      FileSystem.enableSymlinks();
      wrapper = new FileSystemTestWrapper(TestMount.fileSystem(conf));
      super.setUp();
    }
  }
}
