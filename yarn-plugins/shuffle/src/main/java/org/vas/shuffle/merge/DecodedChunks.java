package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.mapred.IFileInputStream;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.vas.shuffle.mof.SegmentFile;

/** The raw bytes of a segment that is stored compressed, encrypted or both, by Hadoop's streams. */
final class DecodedChunks extends BufferedChunks {
  /** Bytes of the window, and about the same again in each of the streams below it. */
  static final int WINDOW = 64 << 10;

  private final Configuration conf;
  private final CompressionCodec codec;
  private final SegmentFile source;
  private final ChunkStream stored;
  private byte[] window;
  private InputStream in;
  private Decompressor decompressor;

  /**
   * Decodes the stored bytes of a segment.
   *
   * @param codec null where nothing is compressed
   */
  DecodedChunks(Configuration conf, CompressionCodec codec, SegmentFile source, Chunks stored) {
    this.conf = requireNonNull(conf, "conf");
    this.codec = codec;
    this.source = requireNonNull(source, "source");
    this.stored = new ChunkStream(stored);
  }

  @Override
  public boolean next() throws IOException {
    try {
      if (in == null) {
        in = open();
        window = new byte[WINDOW];
      }
      int count = Math.max(0, IOUtils.wrappedReadForCompressedData(in, window, 0, window.length));
      use(window, count);
      return count > 0;
    } catch (IOException | RuntimeException e) {
      throw named(e);
    }
  }

  // What reading says names the file; what the codec and the cipher say does not.
  private IOException named(Exception e) {
    return stored.failed() && e instanceof IOException
        ? (IOException) e : new IOException(source + ": cannot be decoded: " + e, e);
  }

  private InputStream open() throws IOException {
    long bytes = source.segment().storedBytes();
    InputStream plain = CryptoUtils.wrapIfNecessary(conf, stored, bytes);
    InputStream checked =
        new IFileInputStream(plain, bytes - CryptoUtils.cryptoPadding(conf), conf);
    if (codec == null) {
      return checked;
    }
    decompressor = CodecPool.getDecompressor(codec);
    return decompressor == null ? checked : codec.createInputStream(checked, decompressor);
  }

  @Override
  protected IOException bytesBehindTheEnd() {
    return new IOException(source + ": bytes after the end marker");
  }

  // Closing reads to the end, where IFile's checksum is.
  @Override
  public void finish() throws IOException {
    super.finish();
    try {
      in.close();
    } catch (IOException | RuntimeException e) {
      throw named(e);
    }
  }

  @Override
  public void close() throws IOException {
    window = null;
    drop();
    if (decompressor != null) {
      decompressor.reset();
      CodecPool.returnDecompressor(decompressor);
      decompressor = null;
    }
    stored.close();
  }
}
