package org.vas.shuffle.reduce;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.util.ReflectionUtils;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.ManifestFormat;
import org.vas.shuffle.mof.ManifestV1Bytes;
import org.vas.shuffle.mof.MofFile;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.ShuffleDirs;

/** Writes a map attempt's output with Hadoop's own writer, not with ours. */
final class MofWriter {
  /** Bytes behind each segment. */
  static final int GAP = 100;


  private final JobConf job;
  private final CompressionCodec codec;
  private final Map<Integer, List<Segment>> segments = new TreeMap<>();
  private final ByteArrayOutputStream mof = new ByteArrayOutputStream();
  private long lie;
  private boolean version1;
  private int others;
  private int runsOfOthers;

  MofWriter(JobConf job) {
    this.job = job;
    this.codec = job.getCompressMapOutput()
        ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job)
        : null;
  }

  /** The manifest will promise that many records more than there are. */
  MofWriter lying(long records) {
    lie = records;
    return this;
  }

  /** The manifest will be as releases before version 2 wrote it. */
  MofWriter version1() {
    version1 = true;
    return this;
  }

  /** The manifest will have these partitions besides 0, with so many runs each; no file has them. */
  MofWriter others(int partitions, int runs) {
    others = partitions;
    runsOfOthers = runs;
    return this;
  }

  /** Adds a segment of sorted records. */
  MofWriter segment(int partition, int run, List<Rec> records) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    FSDataOutputStream out =
        CryptoUtils.wrapIfNecessary(job, new FSDataOutputStream(bytes, null), true);
    IFile.Writer<Object, Object> writer = new IFile.Writer<>(job, out, keyClass(), valueClass(),
        codec, null);
    for (Rec each : records) {
      writer.append(each.key(), each.value());
    }
    writer.close();
    out.close();
    byte[] stored = bytes.toByteArray();
    segments.computeIfAbsent(partition, p -> new ArrayList<>())
        .add(new Segment(partition, run, 0, mof.size(), stored.length, writer.getRawLength(),
            records.size() + lie, checksums(stored)));
    mof.write(stored);
    mof.write(new byte[GAP]);
    return this;
  }

  @SuppressWarnings("unchecked")
  private Class<Object> keyClass() {
    return (Class<Object>) job.getMapOutputKeyClass();
  }

  @SuppressWarnings("unchecked")
  private Class<Object> valueClass() {
    return (Class<Object>) job.getMapOutputValueClass();
  }

  void publish(TaskAttemptID attempt) throws IOException {
    ShuffleDirs dirs = new ShuffleDirs(job);
    FileSystem fs = dirs.root().getFileSystem(job);
    List<Segment> all = new ArrayList<>();
    segments.values().forEach(all::addAll);
    List<MofFile> files = new ArrayList<>();
    if (!all.isEmpty()) {
      files.add(new MofFile(ShuffleDirs.PACKED, mof.size()));
    }
    addOthers(files, all);
    int runs = all.stream().mapToInt(s -> s.run() + 1).max().orElse(0);
    Manifest manifest = Manifest.of(attempt.toString()).host("here").compressed(codec != null)
        .encrypted(CryptoUtils.isEncryptedSpillEnabled(job)).partitions(job.getNumReduceTasks())
        .runs(runs).files(files).segments(all).build();
    fs.mkdirs(dirs.attempt(attempt));
    if (mof.size() > 0) {
      write(fs, new Path(dirs.attempt(attempt), ShuffleDirs.PACKED), mof.toByteArray());
    }
    write(fs, dirs.manifest(attempt), version1 ? ManifestV1Bytes.encode(manifest)
        : ManifestFormat.encode(manifest));
  }

  private void addOthers(List<MofFile> files, List<Segment> all) {
    int count = others * runsOfOthers;
    for (int i = 0; i < count; i++) {
      all.add(new Segment(1 + i / runsOfOthers, i % runsOfOthers, files.size(),
          i * 30_000L, 30_000, 29_996, 300, i));
    }
    if (count > 0) {
      files.add(new MofFile("others.mof", count * 30_000L));
    }
  }

  private static void write(FileSystem fs, Path file, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = fs.create(file, true)) {
      out.write(bytes);
    }
  }

  private static int[] checksums(byte[] stored) {
    int[] checksums = new int[(int) Segment.checksumsOf(stored.length)];
    for (int i = 0; i < checksums.length; i++) {
      int from = i * Segment.CHECKSUM_BYTES;
      byte[] block = Arrays.copyOfRange(stored, from,
          Math.min(stored.length, from + Segment.CHECKSUM_BYTES));
      CRC32C crc = new CRC32C();
      crc.update(block, 0, block.length);
      checksums[i] = (int) crc.getValue();
    }
    return checksums;
  }
}
