package org.vas.filesystem;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.vas.layout.LayoutException;
import org.vas.layout.PlainLayout;
import org.vas.layout.StripeLayout;

/**
 * Base of the tests of new files: a mount with its file system for each test, and looks at its
 * files.
 */
abstract class NewFiles {
  static final String REDUCE_ATTEMPT =
      "/out/_temporary/0/_temporary/attempt_1700000000000_0001_r_000000_0/part-r-00000";

  Configuration conf;
  FileSystem files;

  @BeforeEach
  void mount() throws IOException {
    conf = TestMount.configuration();
    files = TestMount.fileSystem(conf);
  }

  java.nio.file.Path local(String path) {
    return TestMount.mount(conf).resolve(path.substring(1));
  }

  PlainLayout layoutOf(String path) throws IOException, LayoutException {
    return (PlainLayout) StripeLayout.decode(TestMount.MDS.get(local(path), "lustre.lov"));
  }

  void write(String path, String text) throws IOException {
    try (FSDataOutputStream out = files.create(new Path(path), true)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  List<String> names() throws IOException {
    try (Stream<java.nio.file.Path> list = Files.list(TestMount.mount(conf))) {
      return list.map(file -> String.valueOf(file.getFileName())).sorted()
          .collect(Collectors.toList());
    }
  }

  /** Returns the OST that an encoded layout request starts from. */
  static int startOf(byte[] request) {
    return Byte.toUnsignedInt(request[30]) | Byte.toUnsignedInt(request[31]) << 8;
  }
}
