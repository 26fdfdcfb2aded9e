package org.vas.shuffle.merge;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.vas.shuffle.HadoopClasses;
import org.vas.shuffle.ShuffleConf;

/** Computes the bytes of memory that one open stream of a codec takes, on the heap and off it. */
final class CodecMemory {
  private static final String HADOOPS = "org.apache.hadoop.io.compress.";
  // The decompressors of lz4 and snappy have two direct buffers, their streams one on the heap.
  private static final int BLOCK_BUFFERS = 3;
  // zlib's and bzip2's native ones have two direct buffers of 64 KiB.
  private static final int DIRECT = 2 * (64 << 10);
  private static final int INFLATE = 48 << 10;
  private static final int DEFLATE = 272 << 10;
  // Of a block of 900,000 bytes: to read, the bytes and a table of ints; to write, four more.
  private static final long BZIP2_READ = 5 * 900_000L + (128 << 10);
  private static final long BZIP2_WRITE = 9 * 900_000L + (128 << 10);
  // zstd's manual: to write takes some ten windows at the highest levels, fewer below.
  private static final int ZSTD_WRITE_WINDOWS = 12;

  private CodecMemory() {}

  /** Returns the number of bytes that one decompressor takes. */
  static long decoder(Configuration conf, CompressionCodec codec) {
    switch (nameOf(codec)) {
      case "DefaultCodec":
      case "DeflateCodec":
      case "GzipCodec":
        return DIRECT + INFLATE + streamBuffer(conf);
      case "BZip2Codec":
        return DIRECT + BZIP2_READ + streamBuffer(conf);
      case "ZStandardCodec":
        return zstdBuffers(conf) + zstdWindow(conf);
      default:
        return either(conf, codec);
    }
  }

  /** Returns the number of bytes that one compressor takes. */
  static long encoder(Configuration conf, CompressionCodec codec) {
    switch (nameOf(codec)) {
      case "DefaultCodec":
      case "DeflateCodec":
      case "GzipCodec":
        return DIRECT + DEFLATE + streamBuffer(conf);
      case "BZip2Codec":
        return DIRECT + BZIP2_WRITE + streamBuffer(conf);
      case "ZStandardCodec":
        return zstdBuffers(conf) + ZSTD_WRITE_WINDOWS * zstdWindow(conf);
      default:
        return either(conf, codec);
    }
  }

  private static long either(Configuration conf, CompressionCodec codec) {
    switch (nameOf(codec)) {
      case "Lz4Codec":
        return blocks(conf, CommonConfigurationKeys.IO_COMPRESSION_CODEC_LZ4_BUFFERSIZE_KEY,
            CommonConfigurationKeys.IO_COMPRESSION_CODEC_LZ4_BUFFERSIZE_DEFAULT);
      case "SnappyCodec":
        return blocks(conf, CommonConfigurationKeys.IO_COMPRESSION_CODEC_SNAPPY_BUFFERSIZE_KEY,
            CommonConfigurationKeys.IO_COMPRESSION_CODEC_SNAPPY_BUFFERSIZE_DEFAULT);
      case "PassthroughCodec":
        return 0;
      default:
        return ShuffleConf.CODEC_MEMORY.get(conf);
    }
  }

  // A subclass may do anything, so only Hadoop's own classes are known.
  private static String nameOf(CompressionCodec codec) {
    String name = codec.getClass().getName();
    return HadoopClasses.include(codec.getClass()) && name.startsWith(HADOOPS)
        ? name.substring(HADOOPS.length()) : name;
  }

  // Incompressible data grows a little, and the stream's buffer with it.
  private static long blocks(Configuration conf, String key, int otherwise) {
    long size = conf.getInt(key, otherwise);
    return BLOCK_BUFFERS * size + size / 32;
  }

  private static long streamBuffer(Configuration conf) {
    return conf.getInt(CommonConfigurationKeys.IO_FILE_BUFFER_SIZE_KEY,
        CommonConfigurationKeys.IO_FILE_BUFFER_SIZE_DEFAULT);
  }

  // Not set, it is what the library recommends: 128 KiB, and 3 bytes of a block's header.
  private static long zstdBuffers(Configuration conf) {
    int size = conf.getInt(CommonConfigurationKeys.IO_COMPRESSION_CODEC_ZSTD_BUFFER_SIZE_KEY,
        CommonConfigurationKeys.IO_COMPRESSION_CODEC_ZSTD_BUFFER_SIZE_DEFAULT);
    return BLOCK_BUFFERS * (size > 0 ? size : (128L << 10) + 64) + (256 << 10);
  }

  // The largest that a level uses: zstd's table of defaults.
  private static long zstdWindow(Configuration conf) {
    int level = conf.getInt(CommonConfigurationKeys.IO_COMPRESSION_CODEC_ZSTD_LEVEL_KEY,
        CommonConfigurationKeys.IO_COMPRESSION_CODEC_ZSTD_LEVEL_DEFAULT);
    return level <= 4 ? 2L << 20 : level <= 19 ? 8L << 20 : 128L << 20;
  }
}
