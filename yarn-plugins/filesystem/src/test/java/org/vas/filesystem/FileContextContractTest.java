package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.FCStatisticsBaseTest;
import org.apache.hadoop.fs.FSMainOperationsBaseTest;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextCreateMkdirBaseTest;
import org.apache.hadoop.fs.FileContextMainOperationsBaseTest;
import org.apache.hadoop.fs.FileContextPermissionBase;
import org.apache.hadoop.fs.FileContextURIBase;
import org.apache.hadoop.fs.FileContextUtilBase;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs Hadoop's suites for {@code FileContext} on {@link LustreFs}. */
@Tag("contract")
class FileContextContractTest {
  @Nested
  class MainOperations extends FileContextMainOperationsBaseTest {
    @BeforeEach
    @Override
    public void setUp() throws Exception {
      fc = TestMount.fileContext(TestMount.configuration());
      super.setUp();
    }

    // Lustre's clients repair nothing and list nothing that is corrupt.
    @Override
    protected boolean listCorruptedBlocksSupported() {
      return false;
    }
  }

  @Nested
  class FileSystemMainOperations extends FSMainOperationsBaseTest {
    @Override
    protected FileSystem createFileSystem() throws IOException {
      return TestMount.fileSystem(TestMount.configuration());
    }

    @Override
    protected Path getDefaultWorkingDirectory() {
      return new Path("lustre:/user/" + System.getProperty("user.name"));
    }

    @Test
    @Override
    public void testListStatusThrowsExceptionForUnreadableDir() throws Exception {
      assumePermissionsCount();
      super.testListStatusThrowsExceptionForUnreadableDir();
    }

    @Test
    @Override
    public void testGlobStatusThrowsExceptionForUnreadableDir() throws Exception {
      assumePermissionsCount();
      super.testGlobStatusThrowsExceptionForUnreadableDir();
    }

    // The kernel lets root read what nobody may.
    private void assumePermissionsCount() {
      assumeFalse("root".equals(System.getProperty("user.name")), "run as an ordinary user");
    }
  }

  @Nested
  class Permission extends FileContextPermissionBase {
    @Override
    protected FileContext getFileContext() throws IOException {
      return TestMount.fileContext(TestMount.configuration());
    }
  }

  @Nested
  class CreateMkdir extends FileContextCreateMkdirBaseTest {
    @BeforeEach
    @Override
    public void setUp() throws Exception {
      fc = TestMount.fileContext(TestMount.configuration());
      super.setUp();
    }
  }

  @Nested
  class Uri extends FileContextURIBase {
    @BeforeEach
    @Override
    public void setUp() throws Exception {
      fc1 = TestMount.fileContext(TestMount.configuration());
      fc2 = fc1;
      super.setUp();
    }
  }

  @Nested
  class Util extends FileContextUtilBase {
    @BeforeEach
    @Override
    public void setUp() throws Exception {
      fc = TestMount.fileContext(TestMount.configuration());
      super.setUp();
    }
  }

  @Nested
  class Counters extends FCStatisticsBaseTest {
    @BeforeEach
    void setUp() throws IOException {
      fc = TestMount.fileContext(TestMount.configuration());
      // Hadoop counts by URI, and other tests used this one.
      FileContext.clearStatistics();
    }

    @Override
    protected URI getFsUri() {
      return TestMount.ROOT_URI;
    }

    @Override
    protected void verifyReadBytes(Statistics statistics) {
      assertEquals(2L * blockSize, statistics.getBytesRead());
    }

    @Override
    protected void verifyWrittenBytes(Statistics statistics) {
      assertEquals(blockSize, statistics.getBytesWritten());
    }
  }
}
