package org.vas.workloads.fetch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SpillRecord;

/**
 * {@code StockOutputs LOCAL_DIR MAPS REDUCERS BYTES}: writes the output of map tasks as Hadoop's own
 * collector does, file.out and file.out.index, with TeraSort's records: keys of 10 random bytes,
 * values of 90. Prints what each partition holds as JSON.
 */
public final class StockOutputs {
  private static final int KEY = 10;
  private static final int VALUE = 90;
  // Lengths of key and value in an IFile, and Text's own lengths.
  private static final int RECORD = KEY + VALUE + 4;

  private final JobConf job;
  private final Path directory;
  private final RecordSum[] partitions;
  private final long recordsEach;
  private final byte[] key = new byte[KEY];
  private final byte[] value = new byte[VALUE];

  private StockOutputs(Path local, int maps, int reducers, long bytes) {
    this.job = MadeJob.conf(local, maps, reducers);
    this.directory = MadeJob.directory(local).resolve("output");
    this.partitions = Stream.generate(RecordSum::new).limit(reducers).toArray(RecordSum[]::new);
    this.recordsEach = bytes / RECORD / maps / reducers;
  }

  /** Writes all outputs, and prints the sums. */
  public static void main(String[] args) throws IOException {
    int maps = Integer.parseInt(args[1]);
    StockOutputs outputs = new StockOutputs(
        Path.of(args[0]), maps, Integer.parseInt(args[2]), Long.parseLong(args[3]));
    long written = 0;
    for (int map = 0; map < maps; map++) {
      written += outputs.write(map);
    }
    System.out.printf("{\"written\": %d, \"partitions\": [%s]}%n", written,
        Arrays.stream(outputs.partitions).map(each -> "{" + each.json() + "}")
            .collect(Collectors.joining(", ")));
  }

  private long write(int map) throws IOException {
    Path output = Files.createDirectories(directory.resolve(MadeJob.map(map).toString()));
    FileSystem files = FileSystem.getLocal(job).getRaw();
    SpillRecord index = new SpillRecord(partitions.length);
    SplittableRandom random = new SplittableRandom(map);
    long end;
    try (FSDataOutputStream out = files.create(hadoop(output.resolve("file.out")))) {
      for (int partition = 0; partition < partitions.length; partition++) {
        long start = out.getPos();
        IFile.Writer<Text, Text> writer =
            new IFile.Writer<>(job, out, Text.class, Text.class, null, null);
        write(writer, random, partitions[partition]);
        writer.close();
        index.putIndex(
            new IndexRecord(start, writer.getRawLength(), writer.getCompressedLength()), partition);
      }
      end = out.getPos();
    }
    index.writeToFile(hadoop(output.resolve("file.out.index")), job);
    return end;
  }

  private static org.apache.hadoop.fs.Path hadoop(Path path) {
    return new org.apache.hadoop.fs.Path(path.toUri());
  }

  private void write(IFile.Writer<Text, Text> writer, SplittableRandom random, RecordSum sum)
      throws IOException {
    // Sorted as unsigned numbers, which is the order of Text's bytes.
    long[] keys = random.longs(recordsEach).toArray();
    for (int i = 0; i < keys.length; i++) {
      keys[i] ^= Long.MIN_VALUE;
    }
    Arrays.sort(keys);
    ByteBuffer keyBytes = ByteBuffer.wrap(key);
    ByteBuffer valueBytes = ByteBuffer.wrap(value);
    Text textKey = new Text();
    Text textValue = new Text();
    for (long each : keys) {
      keyBytes.putLong(0, each ^ Long.MIN_VALUE);
      for (int at = 0; at + Long.BYTES <= VALUE; at += Long.BYTES) {
        valueBytes.putLong(at, random.nextLong());
      }
      textKey.set(key, 0, KEY);
      textValue.set(value, 0, VALUE);
      writer.append(textKey, textValue);
      sum.add(key, 0, KEY, value, 0, VALUE);
    }
  }
}
