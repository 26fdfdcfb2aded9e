package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.ShuffleFiles;

/** A thread that reads ahead hands its error to the task, as if the task had read itself. */
class ReadAheadFaultsTest {
  private static final int SHUFFLE = 3;
  private static final byte[] BYTES = {1, 2, 3};

  private final Path directory = SparkApps.newDirectory();
  private Throwable fault;
  private ApplicationFiles files;

  /** The machine's files, but for the data of the second map. */
  private final class Faulty extends FilterFileSystem {
    Faulty() throws IOException {
      super(FileSystem.getLocal(new Configuration()).getRaw());
    }

    @Override
    public FSDataInputStream open(org.apache.hadoop.fs.Path path, int bufferBytes)
        throws IOException {
      if (path.getName().equals(PredictableNames.sparkData(2))) {
        if (fault instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) fault;
      }
      return super.open(path, bufferBytes);
    }
  }

  @BeforeEach
  void writeTwoMaps() throws IOException {
    ShuffleStorage storage =
        ShuffleStorage.at(directory.toString(), new Configuration());
    ApplicationFiles made = storage.makeApplication("application_1_0001");
    for (long task : new long[] {1, 2}) {
      VasMapOutputWriter writer = new VasMapOutputWriter(made, SHUFFLE, task, 1, false);
      try (OutputStream out = writer.getPartitionWriter(0).openStream()) {
        out.write(BYTES);
      }
      writer.commitAllPartitions(new long[0]);
    }
    files = new ApplicationFiles(new ShuffleFiles(new Faulty(), operation -> {}),
        new org.apache.hadoop.fs.Path(made.named()), made.named(), new IndexCache(0));
  }

  private VerifiedBuffer buffer(long task) {
    MapFiles map = new MapFiles(files, SHUFFLE, task, 0);
    return new VerifiedBuffer(map, map.plan(1));
  }

  @ParameterizedTest
  @ValueSource(classes = {OutOfMemoryError.class, IllegalStateException.class})
  void whatIsNoErrorOfTheFileBlamesNoMap(Class<? extends Throwable> kind) throws Exception {
    fault = kind.getConstructor(String.class).newInstance("the test's");
    VerifiedBuffer first = buffer(1);
    VerifiedBuffer second = buffer(2);
    first.followedBy(second);
    try (InputStream one = first.createInputStream();
        InputStream two = second.createInputStream()) {
      assertArrayEquals(BYTES, one.readAllBytes());
      assertEquals("the test's", assertThrows(kind, two::read).getMessage());
    }
    assertEquals(1, files.counters().metricRegistry().counter("readsAhead").getCount());
  }
}
