package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.DeflateCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.merge.DisorderException;

/** Has the real daemon merge, and compares with segments and with Hadoop's own Merger. */
@Timeout(120)
class MergedDeliveryTest {
  private static final String MERGES = "The daemon merges 5 segments";
  private static final String SEGMENTS = "The daemon gives segments, and does not merge: ";

  @TempDir Path dir;
  private final Media media = new Media();

  @AfterEach
  void end() {
    media.close();
  }

  private static WritableComparable<?> key(String kind, Random random) {
    int length = random.nextInt(12);
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i < 8 ? 'a' : random.nextInt(3) - 1);
    }
    switch (kind) {
      case "Text":
        return new Text(Integer.toString(random.nextInt(500), 36) + "z".repeat(random.nextInt(200)));
      case "BytesWritable":
        return new BytesWritable(bytes);
      case "IntWritable":
        return new IntWritable((random.nextInt(9) - 4) * (Integer.MAX_VALUE / 4));
      case "LongWritable":
        return new LongWritable((random.nextInt(9) - 4) * (Long.MAX_VALUE / 4));
      default:
        return NullWritable.get();
    }
  }

  private NodeHarness harness(String kind) throws Exception {
    NodeHarness harness = media.merged(dir, 7, "32m");
    fill(harness, kind);
    return harness;
  }

  private static void fill(NodeHarness harness, String kind) throws Exception {
    harness.job.setMapOutputKeyClass(Class.forName("org.apache.hadoop.io." + kind));
    Random random = new Random(kind.hashCode());
    int[] counts = {0, 1, 3000, 0, 800, 50, 2000};
    for (int map = 0; map < counts.length; map++) {
      List<Rec> records = new ArrayList<>();
      for (int i = 0; i < counts[map]; i++) {
        records.add(new Rec(key(kind, random), new Text(map + "." + i + "v".repeat(random.nextInt(90)))));
      }
      harness.map(map, List.of(records));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Text", "BytesWritable", "IntWritable", "LongWritable", "NullWritable"})
  void eachKeyClassComesAsBySegmentsAndAsByStock(String kind) throws Exception {
    NodeHarness harness = harness(kind);
    List<String> merged;
    try (LogLines log = new LogLines(NodeMedium.class)) {
      merged = harness.run();
      assertTrue(log.toString().contains(MERGES), log::toString);
    }
    assertEquals(harness.expected(), merged);
    harness.job.set("vas.shuffled.delivery", "segments");
    try (LogLines log = new LogLines(NodeMedium.class)) {
      assertEquals(merged, harness.run(0, 0));
      assertEquals("", log.toString());
    }
    assertEquals(harness.stockKeys().size(), merged.stream().mapToInt(group -> group.split(";").length).sum());
  }

  /** A comparator of the job's own, though its order is the class's. */
  public static final class Same extends Text.Comparator {}

  /** A key of the job's own, which inherits its order. */
  public static final class OwnText extends Text {
    static {
      WritableComparator.define(OwnText.class, new Text.Comparator());
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      super.readFields(in);
    }

    @Override
    public void write(DataOutput out) throws IOException {
      super.write(out);
    }
  }

  private void fallsBack(NodeHarness harness, String why) throws Exception {
    try (LogLines log = new LogLines(NodeMedium.class)) {
      harness.check();
      assertTrue(log.toString().contains(SEGMENTS + why), log::toString);
      assertEquals(1, log.toString().lines().count(), log::toString);
    }
  }

  @Test
  void anotherComparatorGetsSegmentsAndTheLogSaysSo() throws Exception {
    NodeHarness harness = harness("Text");
    harness.job.setOutputKeyComparatorClass(Same.class);
    fallsBack(harness, "the comparator " + Same.class.getName() + " is not Text's own");
  }

  @Test
  void aComparatorOfTheClassThatIsNamedIsItsOwn() throws Exception {
    NodeHarness harness = harness("Text");
    harness.job.setOutputKeyComparatorClass(Text.Comparator.class);
    try (LogLines log = new LogLines(NodeMedium.class)) {
      harness.check();
      assertTrue(log.toString().contains(MERGES), log::toString);
    }
  }

  @Test
  void moreThanTheDaemonHoldsGetsSegmentsAndTheLogSaysSo() throws Exception {
    NodeHarness harness = media.merged(dir, 40, "8m");
    for (int map = 0; map < 40; map++) {
      harness.map(map, List.of(Rec.random(new Random(map), 6000)));
    }
    fallsBack(harness, "the merge needs ");
  }

  /** Output of a codec that the daemon decodes is as that of segments, and as stock's. */
  @ParameterizedTest
  @ValueSource(classes = {DefaultCodec.class, DeflateCodec.class, GzipCodec.class,
      SnappyCodec.class, Lz4Codec.class})
  void compressedMapOutputIsDecodedByTheDaemon(Class<? extends CompressionCodec> codec) throws Exception {
    NodeHarness harness = media.merged(dir, 8, "32m");
    harness.job.setMapOutputCompressorClass(codec);
    fill(harness, "Text");
    // Larger than a codec's buffer, which Hadoop cuts into chunks of one block.
    harness.map(7, List.of(List.of(new Rec(new Text("large"), new Text("0123456789".repeat(70_000))))));
    List<String> merged;
    try (LogLines log = new LogLines(NodeMedium.class)) {
      merged = harness.run();
      assertTrue(log.toString().contains("The daemon merges 6 segments"), log::toString);
    }
    assertEquals(harness.expected(), merged);
    harness.job.set("vas.shuffled.delivery", "segments");
    assertEquals(merged, harness.run(0, 0));
  }

  @Test
  void anotherCodecGetsSegmentsAndTheLogSaysSo() throws Exception {
    NodeHarness harness = media.merged(dir, 7, "32m");
    harness.job.setMapOutputCompressorClass(BZip2Codec.class);
    fill(harness, "Text");
    fallsBack(harness, "map output is compressed by " + BZip2Codec.class.getName()
        + ", which the daemon does not decode");
  }

  /** A codec of the job's own, which may write anything. */
  public static final class OwnCodec extends DefaultCodec {}

  private static String why(JobConf job) {
    return why(job, job.getCompressMapOutput() ? new DefaultCodec() : null);
  }

  private static String why(JobConf job, CompressionCodec codec) {
    return why(Delivery.of(job, codec, 0));
  }

  private static String why(Delivery delivery) {
    return delivery.isMerged() ? "merged" : delivery.whySegments();
  }

  @Test
  void whatTheDaemonDoesNotMergeIsToldWithItsReason() {
    JobConf job = new JobConf();
    job.setMapOutputKeyClass(Text.class);
    assertEquals("vas.shuffled.delivery is segments", why(job));
    job.set("vas.shuffled.delivery", "merged");
    assertEquals("merged", why(job));
    assertEquals("this is not the task's first attempt", why(Delivery.of(job, null, 1)));
    job.setCompressMapOutput(true);
    assertEquals("merged", why(job));
    assertTrue(why(job, new OwnCodec()).endsWith("which the daemon does not decode"), () -> why(job));
    assertEquals("merged", why(job, new SnappyCodec()));
    job.setInt("io.compression.codec.snappy.buffersize", 1 << 20);
    assertEquals("io.compression.codec.snappy.buffersize is more than 262144 bytes",
        why(job, new SnappyCodec()));
    assertEquals("merged", why(job, new Lz4Codec()));
    job.setCompressMapOutput(false);
    job.setBoolean("mapreduce.job.encrypted-intermediate-data", true);
    assertEquals("map output is encrypted", why(job));
    job.setBoolean("mapreduce.job.encrypted-intermediate-data", false);
    job.setMapOutputKeyClass(OwnText.class);
    assertTrue(why(job).startsWith("the key class " + OwnText.class.getName()), () -> why(job));
    job.setMapOutputKeyClass(LongWritable.class);
    assertEquals("merged", why(job));
    job.setOutputKeyComparatorClass(LongWritable.DecreasingComparator.class);
    assertTrue(why(job).endsWith("is not LongWritable's own"), () -> why(job));
    job.setOutputKeyComparatorClass(IntWritable.Comparator.class);
    assertTrue(why(job).endsWith("is not LongWritable's own"), () -> why(job));
    job.unset("mapreduce.job.output.key.comparator.class");
    job.set("io.serializations", "org.apache.hadoop.io.serializer.avro.AvroSpecificSerialization");
    assertEquals("keys are not serialised as Hadoop's writables", why(job));
  }

  /** A map that did not sort: the job's own data is hostile. */
  @Test
  void disorderInASegmentFailsTheAttempt() throws Exception {
    NodeHarness harness = media.merged(dir, 1, "32m");
    harness.job.setOutputKeyComparatorClass(ReduceOrderTest.Descending.class);
    harness.map(0, List.of(Rec.random(new Random(1), 500)));
    harness.job.unset("mapreduce.job.output.key.comparator.class");
    Throwable thrown = assertThrows(Exception.class, harness::run);
    Throwable e = thrown instanceof IOException ? thrown : thrown.getCause();
    assertTrue(e instanceof DisorderException, e::toString);
    assertTrue(e.getMessage().startsWith("job_20260101_0001, attempt_20260101_0001_r_000000_0: record "),
        e::getMessage);
    assertTrue(e.getMessage().contains(ReduceHarness.map(0, 0).toString()), e::getMessage);
  }
}
