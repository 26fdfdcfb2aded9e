package org.vas.shuffle.mof;

import java.nio.ByteBuffer;

/** Makes manifests with changed bytes, and right checksums over them. */
final class SealedBytes {
  private SealedBytes() {}

  /** Returns a copy with another byte at one place. */
  static byte[] changed(byte[] bytes, int at, int value) {
    byte[] copy = bytes.clone();
    copy[at] = (byte) value;
    return copy;
  }

  /** Gives all bytes a right last checksum, in place. */
  static byte[] sealed(byte[] bytes) {
    return sealed(bytes, 0, bytes.length);
  }

  /** Gives the part a right checksum in its last four bytes, in place. */
  static byte[] sealed(byte[] bytes, int from, int length) {
    int body = length - ManifestBytes.CHECKSUM;
    ByteBuffer.wrap(bytes).putInt(from + body, ManifestBytes.crc(bytes, from, body));
    return bytes;
  }

  /** Returns a copy with another byte in an index record, sealed record and whole. */
  static byte[] inRecord(byte[] manifest, int number, int at, int value) {
    int place = (int) IndexRecord.place(number);
    byte[] copy = changed(manifest, place + at, value);
    return sealed(sealed(copy, place, IndexRecord.BYTES));
  }

  /** Returns a copy with another byte in a block, sealed block and whole. */
  static byte[] inBlock(byte[] manifest, int number, int at, int value) {
    ByteBuffer record = ByteBuffer.wrap(manifest, (int) IndexRecord.place(number) + 16, 12);
    int offset = (int) record.getLong();
    int length = record.getInt();
    byte[] copy = changed(manifest, offset + at, value);
    return sealed(sealed(copy, offset, length));
  }

  /** Gives every index record and block that can be found a right checksum, and the whole one. */
  static byte[] sealedThroughout(byte[] manifest) {
    int records = 0;
    long first = manifest.length < 8 + 24 ? 0 : ByteBuffer.wrap(manifest).getLong(8 + 16);
    if (first > 0 && first <= manifest.length) {
      records = (int) (first - IndexRecord.PREFIX) / IndexRecord.BYTES;
    }
    for (int i = 0; i < records; i++) {
      int place = IndexRecord.PREFIX + i * IndexRecord.BYTES;
      long offset = ByteBuffer.wrap(manifest).getLong(place + 16);
      int length = ByteBuffer.wrap(manifest).getInt(place + 24);
      if (offset >= 0 && length >= 4 && offset <= manifest.length - (long) length) {
        sealed(manifest, (int) offset, length);
      }
    }
    for (int i = 0; i < records; i++) {
      sealed(manifest, IndexRecord.PREFIX + i * IndexRecord.BYTES, IndexRecord.BYTES);
    }
    return manifest.length < 4 ? manifest : sealed(manifest);
  }
}
