package org.vas.shuffle.mof;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.IFileOutputStream;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Writes segments, one after another, with the bytes that {@code IFile.Writer} would write, in
 * blocks.
 *
 * <p>Records go to a codec's stream if the job has one, then to the one that ends with a CRC32,
 * then through encryption if the job has it, then into the MOF. Not for several threads.
 */
public class SegmentWriter {
  private static final byte END = -1;
  private static final int HEADER = 10;

  private final JobConf job;
  private final CompressionCodec codec;
  private final byte[] block = new byte[Segment.CHECKSUM_BYTES];
  private int used;
  private long rawBytes;
  private long records;

  private MofOutput mof;
  private long offset;
  private ChecksummedOutput stored;
  private FSDataOutputStream encrypted;
  private IFileOutputStream summed;
  private OutputStream out;
  private Compressor compressor;

  /** Makes a writer with the job's codec and encryption. */
  public SegmentWriter(JobConf job) {
    this.job = job;
    this.codec = codec(job);
  }

  /** Returns the codec of the job's map output; null if it is not compressed. */
  public static CompressionCodec codec(JobConf job) {
    return job.getCompressMapOutput()
        ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job)
        : null;
  }

  /** Starts a segment at the end of this MOF. */
  public void open(MofOutput target) throws IOException {
    mof = target;
    offset = target.position();
    stored = new ChecksummedOutput(target.stream());
    encrypted = CryptoUtils.wrapIfNecessary(job, new FSDataOutputStream(stored, null, offset), false);
    summed = new IFileOutputStream(encrypted);
    compressor = codec == null ? null : CodecPool.getCompressor(codec);
    out = compressor == null ? summed : codec.createOutputStream(summed, compressor);
    used = 0;
    rawBytes = 0;
    records = 0;
  }

  /** Adds a record as IFile has it: two lengths, then key and value. */
  public void append(byte[] record, int from, int length) throws IOException {
    records++;
    put(record, from, length);
  }

  /** Appends one record, given as key and value, to the open segment. */
  public void append(byte[] key, int keyFrom, int keyLength,
      byte[] value, int valueFrom, int valueLength) throws IOException {
    if (block.length - used < HEADER) {
      drain();
    }
    int start = used;
    used = VInts.put(block, used, keyLength);
    used = VInts.put(block, used, valueLength);
    rawBytes += used - start;
    records++;
    put(key, keyFrom, keyLength);
    put(value, valueFrom, valueLength);
  }

  /** Ends the segment, which has at least one record, and returns its description. */
  public Segment close(int partition, int run) throws IOException {
    end();
    return new Segment(partition, run, mof.index(), offset, stored.bytes(), rawBytes, records,
        stored.checksums());
  }

  /** Returns the bytes that a segment without records would have, which stock Hadoop writes. */
  public long emptyBytes() throws IOException {
    return empty(MofOutput.nowhere());
  }

  /** Writes a segment without records at the end of this MOF; returns its stored bytes. */
  public long empty(MofOutput target) throws IOException {
    open(target);
    end();
    return stored.bytes();
  }

  private void end() throws IOException {
    put(new byte[] {END, END}, 0, 2);
    drain();
    if (compressor != null) {
      CompressionOutputStream compressed = (CompressionOutputStream) out;
      compressed.flush();
      compressed.finish();
      CodecPool.returnCompressor(compressor);
      compressor = null;
    }
    summed.finish();
    if (CryptoUtils.isEncryptedSpillEnabled(job)) {
      encrypted.close();
    }
  }

  private void put(byte[] bytes, int from, int length) throws IOException {
    rawBytes += length;
    if (length <= block.length - used) {
      System.arraycopy(bytes, from, block, used, length);
      used += length;
    } else {
      putOver(bytes, from, length);
    }
  }

  private void putOver(byte[] bytes, int from, int length) throws IOException {
    int at = from;
    int end = from + length;
    while (at < end) {
      int part = Math.min(end - at, block.length - used);
      System.arraycopy(bytes, at, block, used, part);
      at += part;
      used += part;
      if (used == block.length) {
        drain();
      }
    }
  }

  private void drain() throws IOException {
    out.write(block, 0, used);
    used = 0;
  }
}
