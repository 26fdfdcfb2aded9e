package org.vas.shuffle.merge;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Merger;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.order.KeyOrder;

/**
 * Measures CPU seconds of merging, ours against Hadoop's Merger, on the same segments: {@code
 * MergeBench DIR MIB SEGMENTS ours|stock|batches [unchecked] [user] [groups]}. Each run wants a JVM
 * of its own. unchecked: without the check of the order; user: with a comparator that is not
 * Hadoop's own; groups: the thread that takes records compares each key with the one before, and
 * reads both into Text, as reduce()'s iterators do.
 */
final class MergeBench {
  private static RawComparator<?> groups;

  /** Orders as Hadoop's own does, and is not Hadoop's own. */
  public static final class Own extends Text.Comparator {}

  private MergeBench() {}

  public static void main(String[] args) throws Exception {
    JobConf job = new JobConf();
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    FileSystem fs = FileSystem.getLocal(job).getRaw();
    Path dir = Path.of(args[0]);
    int segments = Integer.parseInt(args[2]);
    List<SegmentFile> files = new ArrayList<>();
    for (int i = 0; i < segments; i++) {
      files.add(make(job, fs, dir.resolve("s" + i), i, Integer.parseInt(args[1]) / segments));
    }
    if (args[3].equals("make")) {
      return;
    }
    List<String> options = List.of(args).subList(4, args.length);
    if (options.contains("user")) {
      job.setOutputKeyComparatorClass(Own.class);
    }
    groups = options.contains("groups") ? job.getOutputKeyComparator() : null;
    boolean checked = !options.contains("unchecked");
    long cpu = cpu();
    long wall = System.nanoTime();
    long count = args[3].equals("stock") ? drain(stock(job, fs, files))
        : ours(job, fs, files, args[3].equals("batches"), checked);
    System.out.printf(Locale.ROOT, "%s: %d records, cpu %.2f s, wall %.2f s%n", args[3], count,
        (cpu() - cpu) / 1e9, (System.nanoTime() - wall) / 1e9);
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean)
        ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  private static long drain(RawKeyValueIterator records) throws Exception {
    long count = 0;
    long sum = 0;
    Text text = new Text();
    Text content = new Text();
    byte[] before = new byte[100];
    int length = 0;
    while (records.next()) {
      DataInputBuffer key = records.getKey();
      DataInputBuffer value = records.getValue();
      if (groups != null) {
        int bytes = key.getLength() - key.getPosition();
        sum += groups.compare(before, 0, length, key.getData(), key.getPosition(), bytes);
        System.arraycopy(key.getData(), key.getPosition(), before, 0, bytes);
        length = bytes;
        int keyAt = key.getPosition();
        int valueAt = value.getPosition();
        text.readFields(key);
        content.readFields(value);
        sum += text.getLength() + content.getLength();
        key.reset(key.getData(), keyAt, key.getLength() - keyAt);
        value.reset(value.getData(), valueAt, value.getLength() - valueAt);
      }
      sum += key.getData()[key.getPosition()] + value.getData()[value.getPosition()];
      count++;
    }
    if (sum == 42) {
      System.out.println();
    }
    return count;
  }

  @SuppressWarnings("unchecked")
  private static RawKeyValueIterator stock(JobConf job, FileSystem fs, List<SegmentFile> files)
      throws Exception {
    List<Merger.Segment<Text, Text>> inputs = new ArrayList<>();
    for (SegmentFile each : files) {
      inputs.add(new Merger.Segment<>(job, fs, each.file(), null, true));
    }
    return Merger.merge(job, fs, Text.class, Text.class, inputs, 100,
        new org.apache.hadoop.fs.Path("/tmp"), job.getOutputKeyComparator(), Reporter.NULL, null,
        null, null);
  }

  private static long ours(JobConf job, FileSystem fs, List<SegmentFile> files, boolean batches,
      boolean checked) throws Exception {
    try (ReadPool pool = new ReadPool(Duration.ofMinutes(1))) {
      MemoryPlan memory = new MemoryPlan(256 << 20, 1 << 20, 0);
      Merge merge = new Merge(new SegmentOpener(fs, job, null, pool, ReadMeter.NONE, () -> {})
          .open(files, memory.bufferBytes(files), 0), KeyOrder.of(job));
      Conservation conservation = Conservation.of(files);
      OrderCheck order = checked ? OrderCheck.of(KeyOrder.of(job), "", "") : OrderCheck.none();
      return drain(batches ? new BatchedRecords(merge, conservation, order, memory, () -> {})
          : new MergedRecords(merge, conservation, order));
    }
  }

  private static SegmentFile make(JobConf job, FileSystem fs, Path path, int number, int mib)
      throws Exception {
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(path.toString());
    Path cache = path.resolveSibling(path.getFileName() + ".seg");
    if (Files.exists(cache)) {
      long[] n = Arrays.stream(Files.readString(cache).split(" ")).mapToLong(Long::parseLong)
          .toArray();
      int[] sums = Arrays.stream(n, 3, n.length).mapToInt(l -> (int) l).toArray();
      return new SegmentFile(file, new Segment(0, number, 0, 0, n[0], n[1], n[2], sums));
    }
    int records = (int) ((long) mib << 20) / 100;
    byte[][] sorted = new byte[records][];
    Random random = new Random(number);
    for (int i = 0; i < records; i++) {
      sorted[i] = new byte[98];
      random.nextBytes(sorted[i]);
      sorted[i][0] = 10;
      sorted[i][11] = 86;
    }
    Arrays.sort(sorted, Arrays::compareUnsigned);
    SegmentWriter writer = new SegmentWriter(job);
    Segment segment;
    try (MofOutput out = new MofOutput("s", 0, fs.create(file, true))) {
      writer.open(out);
      for (byte[] each : sorted) {
        writer.append(each, 0, 11, each, 11, 87);
      }
      segment = writer.close(0, number);
    }
    StringBuilder text = new StringBuilder();
    text.append(segment.storedBytes()).append(' ').append(segment.rawBytes()).append(' ')
        .append(segment.records());
    for (int i = 0; i < Segment.checksumsOf(segment.storedBytes()); i++) {
      text.append(' ').append(segment.checksum(i));
    }
    Files.writeString(cache, text.toString());
    return new SegmentFile(file, segment);
  }
}
