package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/** Opens segments for a merge: plain ones are parsed in the read buffers, others are decoded. */
public final class SegmentOpener {
  // A block of records, and the file system's stream below.
  private static final long WRITER = 320 << 10;

  private final FileSystem fs;
  private final JobConf job;
  private final CompressionCodec codec;
  private final SegmentReads pool;
  private final ReadMeter meter;
  private final Progressable alive;

  /**
   * Makes an opener of segments as a job's configuration stores them, which reads by a pool.
   *
   * @param codec null where nothing is compressed
   */
  public SegmentOpener(FileSystem fs, JobConf job, CompressionCodec codec, SegmentReads pool,
      ReadMeter meter, Progressable alive) {
    this.fs = requireNonNull(fs, "fs");
    this.job = requireNonNull(job, "job");
    this.codec = codec;
    this.pool = requireNonNull(pool, "pool");
    this.meter = requireNonNull(meter, "meter");
    this.alive = requireNonNull(alive, "alive");
  }

  /** Returns the number of bytes that decoding an open segment takes: window, codec and cipher. */
  public static long decodeBytes(JobConf job, CompressionCodec codec) {
    long window = codec == null && !CryptoUtils.isEncryptedSpillEnabled(job)
        ? 0 : DecodedChunks.WINDOW;
    return window + cipher(job) + (codec == null ? 0 : CodecMemory.decoder(job, codec));
  }

  /** Returns the number of bytes that writing a segment takes: blocks, codec and cipher. */
  static long encodeBytes(JobConf job, CompressionCodec codec) {
    return WRITER + cipher(job) + (codec == null ? 0 : CodecMemory.encoder(job, codec));
  }

  // Two buffers.
  private static long cipher(JobConf job) {
    return CryptoUtils.isEncryptedSpillEnabled(job)
        ? 2L * 1024 * job.getInt(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA_BUFFER_KB,
            MRJobConfig.DEFAULT_MR_ENCRYPTED_INTERMEDIATE_DATA_BUFFER_KB)
        : 0;
  }

  /**
   * Opens segments, and begins to read: first the one at {@code first}, then those after it, then
   * those before. Reducers that start at different maps do not queue at one OST.
   */
  public List<RecordCursor> open(List<SegmentFile> segments, int bufferBytes, int first) {
    List<ReadAhead> stored = new ArrayList<>();
    List<RecordCursor> cursors = new ArrayList<>();
    for (SegmentFile source : segments) {
      ReadAhead chunks = new ReadAhead(fs, source, meter, pool, alive, bufferBytes);
      stored.add(chunks);
      Segment segment = source.segment();
      cursors.add(new RecordCursor(source.toString(), decoded(source, chunks),
          segment.records(), segment.rawBytes()));
    }
    for (int i = 0; i < stored.size(); i++) {
      stored.get((first + i) % stored.size()).request();
    }
    return cursors;
  }

  /**
   * Opens the stored bytes of one segment, verified, and begins to read them.
   *
   * @param fs opens its file, where the reads do not do that themselves
   * @param bufferBytes of each of two buffers, a multiple of 64 KiB
   */
  public static Chunks stored(FileSystem fs, SegmentFile source, ReadMeter meter,
      SegmentReads reads, Progressable alive, int bufferBytes) {
    ReadAhead chunks = new ReadAhead(fs, source, meter, reads, alive, bufferBytes);
    chunks.request();
    return chunks;
  }

  private Chunks decoded(SegmentFile source, ReadAhead stored) {
    return codec == null && !CryptoUtils.isEncryptedSpillEnabled(job)
        ? stored : new DecodedChunks(job, codec, source, stored);
  }
}
