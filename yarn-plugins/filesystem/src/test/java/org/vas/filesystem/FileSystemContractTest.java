package org.vas.filesystem;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystemContractBaseTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/**
 * Runs Hadoop's older contract, HDFS' answers of {@code rename} included, with nothing left out.
 */
@Tag("contract")
class FileSystemContractTest extends FileSystemContractBaseTest {
  @BeforeEach
  void mount() throws IOException {
    fs = TestMount.fileSystem(TestMount.configuration());
  }
}
