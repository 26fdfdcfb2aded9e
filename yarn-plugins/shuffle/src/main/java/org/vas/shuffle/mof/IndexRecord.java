package org.vas.shuffle.mof;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A record in the index of a manifest of version 2: where the block of one partition is. Each has
 * a checksum of its own and says all that a reader has to know before it reads the block, so that
 * a reader of one partition reads one record and one block.
 */
final class IndexRecord {
  /** The length of a record in bytes. */
  static final int BYTES = 32;
  /** The number of the record of the manifest's summary, which comes before partition 0's. */
  static final int SUMMARY = -1;
  /** Bytes before the first record: the magic number, the version, and three zeros. */
  static final int PREFIX = 8;
  /** The kind of segments that this reader knows: those of Hadoop's IFile. */
  static final String KIND = "ifile";

  private static final int KIND_BYTES = 8;
  private static final int FLAGS = 0xffffff;

  private final String kind;
  private final int version;
  private final int flags;
  private final int number;
  private final long offset;
  private final int length;

  private IndexRecord(ByteBuffer in) {
    byte[] name = new byte[KIND_BYTES];
    in.get(name);
    this.kind = text(name);
    int word = in.getInt();
    this.version = word >>> 24;
    this.flags = word & FLAGS;
    this.number = in.getInt();
    this.offset = in.getLong();
    this.length = in.getInt();
  }

  /** Returns the bytes of a record, with its checksum. */
  static byte[] encode(int flags, int number, long offset, int length) {
    byte[] record = new byte[BYTES];
    ByteBuffer out = ByteBuffer.wrap(record);
    out.put(Arrays.copyOf(KIND.getBytes(ISO_8859_1), KIND_BYTES));
    out.putInt(ManifestV2.VERSION << 24 | flags);
    out.putInt(number).putLong(offset).putInt(length);
    out.putInt(ManifestBytes.crc(record, 0, BYTES - ManifestBytes.CHECKSUM));
    return record;
  }

  /** Returns the offset in the manifest of the record with this number. */
  static long place(int number) {
    return PREFIX + (number + 1L) * BYTES;
  }

  /** Returns whether a whole record with a right checksum starts at {@code from}. */
  static boolean isWhole(byte[] bytes, int from) {
    int body = BYTES - ManifestBytes.CHECKSUM;
    return bytes.length - from >= BYTES
        && ByteBuffer.wrap(bytes).getInt(from + body) == ManifestBytes.crc(bytes, from, body);
  }

  /**
   * Returns the record that starts at {@code from}, which must be the one of this number.
   *
   * @throws ManifestException that names the record and what is wrong with it
   */
  static IndexRecord read(byte[] bytes, int from, int number) throws ManifestException {
    if (!isWhole(bytes, from)) {
      throw new ManifestException(name(number) + ": wrong checksum of its index record");
    }
    IndexRecord record = new IndexRecord(ByteBuffer.wrap(bytes, from, BYTES));
    record.check(number);
    return record;
  }

  private void check(int expected) throws ManifestException {
    if (version != ManifestV2.VERSION) {
      throw new ManifestException(name(expected) + ": an index record of version " + version
          + ", known is " + ManifestV2.VERSION);
    }
    if (!kind.equals(KIND)) {
      throw new ManifestException(name(expected) + ": segments of kind " + kind
          + ", this reader knows " + KIND + ": it needs the release that wrote them, or a later one");
    }
    ManifestBytes.checkFlags(flags);
    if (number != expected) {
      throw new ManifestException(
          name(expected) + ": the index record of " + name(number) + " is in its place");
    }
  }

  /** Returns a record's number as people read it. */
  static String name(int number) {
    return number == SUMMARY ? "the summary" : "partition " + number;
  }

  // Bytes that are no name are shown as a number.
  private static String text(byte[] name) {
    String text = new String(name, ISO_8859_1).replaceFirst("\0+$", "");
    return text.matches("[a-z0-9-]+")
        ? text : String.format("0x%016x", ByteBuffer.wrap(name).getLong());
  }

  int flags() {
    return flags;
  }

  /** Returns the offset in the manifest of the block's first byte. */
  long offset() {
    return offset;
  }

  /**
   * Returns the number of bytes of the block with its checksum; in a hostile manifest any number.
   */
  int length() {
    return length;
  }
}
