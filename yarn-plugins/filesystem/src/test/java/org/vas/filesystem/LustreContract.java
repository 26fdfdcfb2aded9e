package org.vas.filesystem;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** Tells Hadoop's suites what {@link LustreFileSystem} promises, by {@code contract/lustre.xml}. */
final class LustreContract extends AbstractFSContract {
  private FileSystem files;

  LustreContract(Configuration conf) {
    super(conf);
    addConfResource("contract/lustre.xml");
    TestMount.configuration().forEach(entry -> getConf().set(entry.getKey(), entry.getValue()));
  }

  @Override
  public void init() throws IOException {
    super.init();
    files = TestMount.fileSystem(getConf());
  }

  @Override
  public FileSystem getTestFileSystem() {
    return files;
  }

  @Override
  public String getScheme() {
    return LustreFileSystem.SCHEME;
  }

  @Override
  public Path getTestPath() {
    return new Path("/test");
  }
}
