package org.vas.filesystem;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContextTestWrapper;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystemTestWrapper;
import org.apache.hadoop.fs.SymlinkBaseTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Hadoop's suite for symbolic links, through {@code FileContext} and {@code FileSystem}. */
@Tag("contract")
class SymlinkContractTest {
  abstract static class OnLustre extends SymlinkBaseTest {
    final Configuration conf = TestMount.configuration();

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
