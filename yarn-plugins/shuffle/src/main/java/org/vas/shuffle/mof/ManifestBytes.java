package org.vas.shuffle.mof;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;

/**
 * Reads and writes the parts that both versions of a manifest have: seals, counts, files and
 * segments.
 */
final class ManifestBytes {
  static final int MAGIC = 0x5641534d;
  static final int COMPRESSED = 1;
  static final int ENCRYPTED = 2;
  static final int CHECKSUM = Integer.BYTES;
  private static final int LONGEST_NAME = 4096;

  private ManifestBytes() {}

  /** Decodes bytes, and throws what is wrong with them. */
  interface Decoder<T> {
    T run() throws IOException;
  }

  /** Runs a decoder; whatever it finds wrong becomes a ManifestException. */
  static <T> T decoding(Decoder<T> decoder) throws ManifestException {
    try {
      return decoder.run();
    } catch (ManifestException e) {
      throw e;
    } catch (IOException | IllegalArgumentException e) {
      throw new ManifestException("does not add up: " + e.getMessage(), e);
    }
  }

  /**
   * Returns the version of a manifest that begins with these bytes.
   *
   * @throws ManifestException if they are too few, or do not begin a manifest
   */
  static int version(byte[] bytes, int length) throws ManifestException {
    if (length <= Integer.BYTES) {
      throw new ManifestException("cut short: " + bytes.length + " bytes");
    }
    int magic = ByteBuffer.wrap(bytes).getInt();
    if (magic != MAGIC) {
      throw new ManifestException("not a manifest: starts with 0x" + Integer.toHexString(magic));
    }
    return Byte.toUnsignedInt(bytes[Integer.BYTES]);
  }

  /** Throws unless the last four bytes are the CRC32C of all before. */
  static void checkSeal(byte[] bytes) throws ManifestException {
    int body = bytes.length - CHECKSUM;
    if (body < 0) {
      throw new ManifestException("cut short: " + bytes.length + " bytes");
    }
    if (ByteBuffer.wrap(bytes).getInt(body) != crc(bytes, 0, body)) {
      throw new ManifestException("wrong checksum over " + bytes.length + " bytes");
    }
  }

  static int crc(byte[] bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, length);
    return (int) crc.getValue();
  }

  static int flags(Manifest manifest) {
    return (manifest.compressed() ? COMPRESSED : 0) | (manifest.encrypted() ? ENCRYPTED : 0);
  }

  static void checkFlags(int flags) throws ManifestException {
    if ((flags & ~(COMPRESSED | ENCRYPTED)) != 0) {
      throw new ManifestException("unknown flags 0x" + Integer.toHexString(flags));
    }
  }

  static void writeFile(DataOutputStream out, MofFile file) throws IOException {
    Text.writeString(out, file.name());
    WritableUtils.writeVLong(out, file.length());
  }

  static MofFile readFile(DataInputStream in) throws IOException {
    return new MofFile(readText(in), WritableUtils.readVLong(in));
  }

  static String readText(DataInputStream in) throws IOException {
    return Text.readString(in, LONGEST_NAME);
  }

  /** Writes a segment without its partition, as part of {@code file}. */
  static void writeSegment(DataOutputStream out, Segment segment, int file) throws IOException {
    WritableUtils.writeVInt(out, segment.run());
    WritableUtils.writeVInt(out, file);
    WritableUtils.writeVLong(out, segment.offset());
    WritableUtils.writeVLong(out, segment.storedBytes());
    WritableUtils.writeVLong(out, segment.rawBytes());
    WritableUtils.writeVLong(out, segment.records());
    for (int i = 0; i < segment.checksumCount(); i++) {
      out.writeInt(segment.checksum(i));
    }
  }

  /** Reads what {@link #writeSegment} wrote; checksums that are not kept are skipped. */
  static Segment readSegment(DataInputStream in, int partition, boolean keepChecksums)
      throws IOException {
    int run = readInt(in);
    int file = readInt(in);
    long offset = WritableUtils.readVLong(in);
    long stored = WritableUtils.readVLong(in);
    long raw = WritableUtils.readVLong(in);
    long records = WritableUtils.readVLong(in);
    if (records == Segment.UNCOUNTED) {
      throw new ManifestException("a segment whose records nobody counted");
    }
    int checksums = checksumCount(in, stored);
    if (!keepChecksums) {
      in.skipBytes(checksums * CHECKSUM);
      return Segment.withoutChecksums(partition, run, file, offset, stored, raw, records);
    }
    int[] all = new int[checksums];
    for (int i = 0; i < checksums; i++) {
      all[i] = in.readInt();
    }
    return new Segment(partition, run, file, offset, stored, raw, records, all);
  }

  private static int checksumCount(DataInputStream in, long stored) throws IOException {
    long count = stored <= 0 ? 0 : Segment.checksumsOf(stored);
    if (count > in.available() / CHECKSUM) {
      throw new ManifestException("no room for the checksums of " + stored + " bytes");
    }
    return (int) count;
  }

  // A count larger than the bytes left can hold would make a list of any size.
  static int readCount(DataInputStream in, int smallestItem) throws IOException {
    int count = readInt(in);
    if (count < 0 || count > in.available() / smallestItem) {
      throw new ManifestException("no room for " + count + " items");
    }
    return count;
  }

  static int readInt(DataInputStream in) throws IOException {
    return WritableUtils.readVInt(in);
  }

  /** Throws unless all of a stream was read. */
  static void checkEnd(ByteArrayInputStream bytes) throws ManifestException {
    if (bytes.available() > 0) {
      throw new ManifestException(bytes.available() + " bytes too many");
    }
  }
}
