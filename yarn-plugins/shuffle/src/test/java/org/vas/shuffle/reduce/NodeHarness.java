package org.vas.shuffle.reduce;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.vas.shuffle.daemon.ModelDaemon;
import org.vas.shuffle.node.RealDaemon;

/** Runs Hadoop's own ReduceTask on stock's map output, which the real daemon of a node serves. */
final class NodeHarness extends ReduceHarness implements Closeable {
  private static final long CLUSTER = 20260101;

  final RealDaemon daemon;
  private long lie;

  NodeHarness(Path dir, int maps) throws IOException {
    this(dir, maps, Map.of());
  }

  /** Makes one whose daemon has some more keys. */
  NodeHarness(Path dir, int maps, Map<String, String> keys) throws IOException {
    super(dir, maps);
    daemon = new RealDaemon(Files.createDirectories(dir).resolve("nm"), ApplicationId.newInstance(CLUSTER, 1),
        ModelDaemon.secret().getEncoded(), keys);
    job.unset("mapreduce.job.map.output.collector.class");
    job.setClass(MRConfig.SHUFFLE_CONSUMER_PLUGIN, NodeMerge.class, ShuffleConsumerPlugin.class);
    job.set(MRConfig.LOCAL_DIR, daemon.jobDirectory().toString());
    job.set("vas.shuffled.patience", "20s");
    umbilical.machines(map -> "localhost");
  }

  /** The index will promise that many raw bytes more than there are. */
  NodeHarness lying(long bytes) {
    lie = bytes;
    return this;
  }

  /** Returns the file for the one of Lustre's layout with this name: the data, or what describes it. */
  @Override
  Path file(TaskAttemptID attempt, String name) {
    return Path.of(job.get(MRConfig.LOCAL_DIR)).resolve("output").resolve(attempt.toString())
        .resolve(name.equals("manifest") ? "file.out.index" : "file.out");
  }

  /** Returns the directory in which passes would be left. */
  Path passes() {
    return Path.of(job.get(MRConfig.LOCAL_DIR)).resolve("vas-passes");
  }

  // One map has one segment for each partition: of several runs stock keeps their merge.
  @Override
  void write(TaskAttemptID attempt, List<List<Rec>> runs) throws IOException {
    List<Rec> merged = new ArrayList<>();
    runs.forEach(merged::addAll);
    merged.sort(order());
    FileSystem fs = FileSystem.getLocal(job).getRaw();
    int partitions = job.getNumReduceTasks();
    SpillRecord index = new SpillRecord(partitions);
    Path data = file(attempt, "data");
    Files.createDirectories(data.getParent());
    try (FSDataOutputStream out = fs.create(new org.apache.hadoop.fs.Path(data.toString()), true)) {
      for (int partition = 0; partition < partitions; partition++) {
        index.putIndex(segment(out, partition == 0 ? merged : List.of()), partition);
      }
    }
    index.writeToFile(new org.apache.hadoop.fs.Path(file(attempt, "manifest").toString()), job);
  }

  private IndexRecord segment(FSDataOutputStream out, List<Rec> records) throws IOException {
    CompressionCodec codec = job.getCompressMapOutput()
        ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job)
        : null;
    long start = out.getPos();
    FSDataOutputStream cipher = CryptoUtils.wrapIfNecessary(job, out, false);
    IFile.Writer<Object, Object> writer = new IFile.Writer<>(job, cipher, keyClass(), valueClass(), codec, null);
    for (Rec each : records) {
      writer.append(each.key(), each.value());
    }
    writer.close();
    if (cipher != out) {
      cipher.close();
    }
    int padding = CryptoUtils.cryptoPadding(job);
    long raw = writer.getRawLength() + padding + (records.isEmpty() ? 0 : lie);
    return new IndexRecord(start, raw, writer.getCompressedLength() + padding);
  }

  @SuppressWarnings("unchecked")
  private Class<Object> keyClass() {
    return (Class<Object>) job.getMapOutputKeyClass();
  }

  @SuppressWarnings("unchecked")
  private Class<Object> valueClass() {
    return (Class<Object>) job.getMapOutputValueClass();
  }

  @Override
  public void close() {
    daemon.close();
  }
}
