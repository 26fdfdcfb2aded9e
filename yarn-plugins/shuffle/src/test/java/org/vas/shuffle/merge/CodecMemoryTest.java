package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.DeflateCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.PassthroughCodec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.io.compress.ZStandardCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.ReflectionUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentWriter;

/** Compares what is counted for a codec with what Hadoop's streams really take. */
@Timeout(120)
class CodecMemoryTest {
  private static final int OPEN = 4;
  private static final int KIB = 1 << 10;

  /** A segment in memory. */
  private static final class Stored {
    private final byte[] bytes;
    private final SegmentFile file;

    private Stored(byte[] bytes, Segment segment) {
      this.bytes = bytes;
      this.file = new SegmentFile(new Path("/segment"), segment);
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {DefaultCodec.class, DeflateCodec.class, GzipCodec.class, Lz4Codec.class,
      SnappyCodec.class, BZip2Codec.class})
  void noDecoderTakesMoreThanIsCounted(Class<? extends CompressionCodec> kind) throws Exception {
    JobConf job = job(kind);
    CompressionCodec codec = SegmentWriter.codec(job);
    Stored stored = segment(job);
    drain(List.of(decoder(job, codec, stored))); // loads classes
    List<DecodedChunks> open = new ArrayList<>();
    long before = taken();
    for (int i = 0; i < OPEN; i++) {
      open.add(decoder(job, codec, stored));
    }
    drain(open);
    long each = (taken() - before) / OPEN;
    long counted = SegmentOpener.decodeBytes(job, codec);
    assertTrue(each <= counted, () -> kind + " took " + each + " bytes, counted " + counted);
    assertTrue(counted <= 10 * each, () -> kind + " took " + each + " bytes, counted " + counted);
  }

  /** All are open until all have ended, as in a merge. */
  private static void drain(List<DecodedChunks> open) throws Exception {
    List<DecodedChunks> left = new ArrayList<>(open);
    while (!left.isEmpty()) {
      List<DecodedChunks> next = new ArrayList<>();
      for (DecodedChunks each : left) {
        if (each.next()) {
          next.add(each);
        }
      }
      left = next;
    }
    for (DecodedChunks each : open) {
      each.finish();
      each.close();
    }
  }

  private static DecodedChunks decoder(JobConf job, CompressionCodec codec, Stored stored) {
    return new DecodedChunks(job, codec, stored.file, new PiecesOf(stored.bytes, 32 * KIB));
  }

  // Direct buffers that were given back and what this thread allocates for a moment count too.
  private static long taken() {
    long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
    return direct + ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  private static JobConf job(Class<? extends CompressionCodec> codec) {
    JobConf job = new JobConf();
    job.setCompressMapOutput(true);
    job.setMapOutputCompressorClass(codec);
    return job;
  }

  /** Some blocks of every codec, of bytes that compress to a half. */
  private static Stored segment(JobConf job) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SegmentWriter writer = new SegmentWriter(job);
    Random random = new Random(1);
    byte[] record = new byte[1000];
    try (MofOutput mof = new MofOutput("mof", 0, new FSDataOutputStream(bytes, null))) {
      writer.open(mof);
      for (int i = 0; i < 2000; i++) {
        byte[] half = new byte[500];
        random.nextBytes(half);
        System.arraycopy(half, 0, record, 0, half.length);
        writer.append(record, 0, 10, record, 10, 990);
      }
      Segment segment = writer.close(0, 0);
      return new Stored(bytes.toByteArray(), segment);
    }
  }

  @Test
  void theSizesOfBuffersAreTheJobs() {
    JobConf job = new JobConf();
    long usual = CodecMemory.decoder(job, new Lz4Codec());
    assertTrue(usual >= 768 * KIB, () -> "" + usual);
    job.setInt("io.compression.codec.lz4.buffersize", 1 << 20);
    job.setInt("io.compression.codec.snappy.buffersize", 2 << 20);
    assertTrue(CodecMemory.decoder(job, new Lz4Codec()) >= 3 << 20);
    assertTrue(CodecMemory.decoder(job, new SnappyCodec()) >= 6 << 20);
    long window = CodecMemory.decoder(job, new ZStandardCodec());
    assertTrue(window >= 2 << 20);
    job.setInt("io.compression.codec.zstd.level", 19);
    assertTrue(CodecMemory.decoder(job, new ZStandardCodec()) >= 8 << 20);
    assertEquals(0, CodecMemory.decoder(job, new PassthroughCodec()));
  }

  /** A codec that is Hadoop's in name only. */
  public static final class Mine extends Lz4Codec {}

  @Test
  void ofACodecThatNobodyKnowsTheJobTells() {
    JobConf job = new JobConf();
    CompressionCodec mine = ReflectionUtils.newInstance(Mine.class, new Configuration());
    assertEquals(4 << 20, CodecMemory.decoder(job, mine));
    job.set("vas.shuffle.codec-memory", "10m");
    assertEquals(10 << 20, CodecMemory.decoder(job, mine));
    assertEquals(10 << 20, CodecMemory.encoder(job, mine));
  }
}
