package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.serializer.JavaSerialization;
import org.apache.hadoop.io.serializer.JavaSerializationComparator;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.io.serializer.WritableSerialization;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.map.WrittenOutput.Record;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.MetadataOperation;
import org.vas.shuffle.mof.ShuffleDirs;

/**
 * Runs Hadoop's MapTask with our collector, and compares with a sort of what it emitted and with
 * stock.
 */
class MapOutputTest {
  @TempDir
  Path directory;
  private JobConf job;

  @BeforeEach
  void makeJob() throws IOException {
    job = MapRun.job(directory);
    job.setNumReduceTasks(3);
  }

  @Test
  void onePlainPackedRunIsStocksSpillFile() throws Exception {
    job.set("vas.shuffle.alignment", "1");
    job.set("vas.shuffle.layout", "packed");
    // No key twice: stock's sort is not stable.
    Emitter.Script script = output -> {
      for (int i = 0; i < 20_000; i++) {
        output.emit(new Text("word" + i * 7919L % 20_000), new IntWritable(i));
      }
    };
    check(script);
    byte[] ours = Files.readAllBytes(MapRun.directory(job).resolve(ShuffleDirs.PACKED));
    assertArrayEquals(WrittenOutput.stockBytes(MapRun.stock(job, script).job()), ours);
  }

  @ParameterizedTest
  @CsvSource({
    "none,    plain,     packed,      1", "none,    plain,     per-reducer, 16",
    "none,    encrypted, packed,      16", "none,    encrypted, per-reducer, 1",
    "default, plain,     packed,      16", "default, plain,     per-reducer, 1",
    "default, encrypted, packed,      1", "default, encrypted, per-reducer, 16",
    "gzip,    plain,     packed,      1", "gzip,    encrypted, packed,      16",
    "gzip,    plain,     per-reducer, 1", "bzip2,   plain,     packed,      16",
  })
  void everyWayToStoreIt(String codec, String encryption, String layout, int sortMb)
      throws Exception {
    MapRun.compress(job, codec);
    if (encryption.equals("encrypted")) {
      MapRun.encrypt(job);
    }
    job.set("vas.shuffle.layout", layout);
    job.setInt(MRJobConfig.IO_SORT_MB, sortMb);
    Manifest manifest = check(words(40_000));
    assertEquals(sortMb == 1, manifest.runs() > 1);
    assertEquals(layout.equals("packed") ? 1 : 3, manifest.files().size());
    assertEquals(encryption.equals("encrypted"), manifest.encrypted());
    assertEquals(!codec.equals("none"), manifest.compressed());
  }

  @ParameterizedTest
  @CsvSource({"3, packed, plain, none", "3, per-reducer, plain, gzip",
    "3, packed, encrypted, none", "1, packed, plain, none"})
  void tooManyRunsAreMergedInOrder(int most, String layout, String encryption, String codec)
      throws Exception {
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    job.setInt("vas.shuffle.max-runs", most);
    job.set("vas.shuffle.layout", layout);
    MapRun.compress(job, codec);
    if (encryption.equals("encrypted")) {
      MapRun.encrypt(job);
    }
    Manifest manifest = check(output -> {
      for (int i = 0; i < 120_000; i++) {
        output.emit(new Text("word" + i % 1000), new IntWritable(i));
      }
    });
    assertTrue(manifest.runs() <= most, () -> manifest.runs() + " runs");
    assertTrue(manifest.files().stream().anyMatch(f -> f.name().matches(".*-[0-9]+[.]mof")));
    try (var files = Files.list(MapRun.directory(job))) {
      assertEquals(manifest.files().size() + 1, files.count(), "only what the manifest names");
    }
  }

  @Test
  void ordersOfOtherClasses() throws Exception {
    job.setOutputKeyComparatorClass(Backwards.class);
    check(words(3_000));

    job = MapRun.job(directory.resolve("double"));
    job.setMapOutputKeyClass(DoubleWritable.class);
    check(random -> new DoubleWritable(random.nextInt(100) - 50), 3_000);

    job = MapRun.job(directory.resolve("long"));
    job.setMapOutputKeyClass(LongWritable.class);
    check(random -> new LongWritable(random.nextInt(100) - 50), 3_000);

    job = MapRun.job(directory.resolve("bytes"));
    job.setMapOutputKeyClass(BytesWritable.class);
    check(random -> new BytesWritable(new byte[random.nextInt(20)]), 3_000);

    job = MapRun.job(directory.resolve("null"));
    job.setMapOutputKeyClass(NullWritable.class);
    check(random -> NullWritable.get(), 3_000);
  }

  @Test
  void otherSerializations() throws Exception {
    job.setStrings("io.serializations", JavaSerialization.class.getName(),
        WritableSerialization.class.getName());
    job.setMapOutputKeyClass(String.class);
    job.setOutputKeyComparatorClass(JavaSerializationComparator.class);
    check(random -> "key" + random.nextInt(100), 2_000);
  }

  @ParameterizedTest
  @CsvSource({"1", "500"})
  void partitions(int partitions) throws Exception {
    job.setNumReduceTasks(partitions);
    check(words(5_000));
  }

  @Test
  void skewAndEmptyPartitions() throws Exception {
    job.setNumReduceTasks(50);
    Manifest manifest = check(output -> {
      for (int i = 0; i < 10_000; i++) {
        output.emit(new Text(i % 10 == 0 ? "rare" : "often"), new IntWritable(i));
      }
    });
    assertEquals(2, manifest.segments().size());
  }

  @Test
  void equalKeysOfAnyLengthKeepTheirOrder() throws Exception {
    String longKey = "k".repeat(200);
    check(output -> {
      for (int i = 0; i < 10_000; i++) {
        output.emit(new Text(i % 3 == 0 ? longKey : "k"), new IntWritable(i));
      }
    });
  }

  @Test
  void aMapWithoutRecordsPublishes() throws Exception {
    MapRun run = MapRun.of(job, output -> {});
    Manifest manifest = WrittenOutput.manifest(job);
    assertEquals(List.of(), manifest.segments());
    assertEquals(0, manifest.files().size());
    assertEquals(3, manifest.partitions());
    assertEquals(3 * 6, run.counter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES));
    assertEquals(1, run.operations(MetadataOperation.FILES_CREATED));
  }

  @Test
  void aRecordLargerThanTheBufferIsARunOfItsOwn() throws Exception {
    job.setMapOutputValueClass(BytesWritable.class);
    job.setNumReduceTasks(1);
    Manifest manifest = check(output -> {
      output.emit(new Text("b"), new BytesWritable(new byte[10]));
      output.emit(new Text("c"), new BytesWritable(new byte[40 << 20]));
      output.emit(new Text("a"), new BytesWritable(new byte[10]));
    });
    assertEquals(3, manifest.runs());
    assertEquals(List.of(1L, 1L, 1L), List.of(manifest.segments().get(0).records(),
        manifest.segments().get(1).records(), manifest.segments().get(2).records()));
  }

  /** As the map runners with several threads of both APIs do. */
  @Test
  void threadsMayCollectAtOnce() throws Exception {
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    MapRun.useOldApi(job);
    MapRun.of(job, output -> IntStream.range(0, 40_000).parallel().forEach(i -> {
      try {
        output.emit(new Text("word" + i), new IntWritable(i));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }));
    Set<Record> distinct = new HashSet<>();
    for (int partition = 0; partition < 3; partition++) {
      distinct.addAll(WrittenOutput.records(job, WrittenOutput.manifest(job), partition));
    }
    assertEquals(40_000, distinct.size());
  }

  @Test
  void twoFilesAnAttempt() throws Exception {
    job.set("vas.shuffle.layout", "packed");
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    MapRun run = MapRun.of(job, words(40_000));
    assertTrue(WrittenOutput.manifest(job).runs() > 1);
    assertEquals(2, run.operations(MetadataOperation.FILES_CREATED));
    assertEquals(1, run.operations(MetadataOperation.RENAMES));
    assertEquals(0, run.operations(MetadataOperation.OPENS));
  }

  @Test
  void alignsSegmentsThatAreWorthIt() throws Exception {
    job.set("vas.shuffle.layout", "packed");
    Manifest large = check(words(40_000));
    assertTrue(large.segments().stream().allMatch(segment -> segment.offset() % 4096 == 0));
    job = MapRun.job(directory.resolve("small"));
    job.setNumReduceTasks(3);
    job.set("vas.shuffle.layout", "packed");
    Manifest small = check(words(300));
    Segment last = small.segments().get(2);
    assertEquals(small.segments().stream().mapToLong(Segment::storedBytes).sum(), last.end());
  }

  /** Runs the map, and compares each partition with a stable sort of what went there. */
  private Manifest check(Emitter.Script script) throws Exception {
    MapRun run = MapRun.of(job, script);
    Manifest manifest = WrittenOutput.manifest(job);
    List<List<Record>> expected = emitted(script);
    for (int partition = 0; partition < expected.size(); partition++) {
      for (Segment segment : manifest.segments(partition)) {
        List<Record> records = WrittenOutput.records(job, manifest, segment);
        assertEquals(WrittenOutput.sorted(job, records), records);
      }
      assertEquals(WrittenOutput.sorted(job, expected.get(partition)),
          WrittenOutput.sorted(job, WrittenOutput.records(job, manifest, partition)));
    }
    long count = expected.stream().mapToLong(List::size).sum();
    assertEquals(count, run.counter(TaskCounter.MAP_OUTPUT_RECORDS));
    return manifest;
  }

  private void check(java.util.function.Function<Random, Object> keys, int count)
      throws Exception {
    check(output -> {
      Random random = new Random(7);
      for (int i = 0; i < count; i++) {
        output.emit(keys.apply(random), new IntWritable(i));
      }
    });
  }

  private List<List<Record>> emitted(Emitter.Script script) throws IOException {
    List<List<Record>> partitions = new ArrayList<>();
    for (int i = 0; i < job.getNumReduceTasks(); i++) {
      partitions.add(new ArrayList<>());
    }
    HashPartitioner<Object, Object> partitioner = new HashPartitioner<>();
    script.run((key, value) -> partitions
        .get(partitioner.getPartition(key, value, partitions.size()))
        .add(new Record(serialised(key), serialised(value))));
    return partitions;
  }

  private byte[] serialised(Object object) throws IOException {
    DataOutputBuffer out = new DataOutputBuffer();
    @SuppressWarnings("unchecked")
    Serializer<Object> serializer = (Serializer<Object>) new SerializationFactory(job)
        .getSerializer((Class<?>) object.getClass());
    serializer.open(out);
    serializer.serialize(object);
    serializer.close();
    return java.util.Arrays.copyOf(out.getData(), out.getLength());
  }

  private static Emitter.Script words(int count) {
    return output -> {
      Random random = new Random(1);
      for (int i = 0; i < count; i++) {
        output.emit(new Text("word" + random.nextInt(count)), new IntWritable(i));
      }
    };
  }

  /** A comparator of which nothing is known. */
  public static final class Backwards extends Text.Comparator {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return -super.compare(b1, s1, l1, b2, s2, l2);
    }
  }
}
