package org.vas.shuffle.map;

import java.util.List;
import org.vas.shuffle.mof.VInts;

/** The records of a full buffer, by their places: see {@link Entries}. */
final class Records {
  private final byte[][] blocks;

  Records(List<byte[]> blocks) {
    this.blocks = blocks.toArray(new byte[0][]);
  }

  /** Returns the block that a record is in. */
  byte[] block(long place) {
    return blocks[Entries.block(place)];
  }

  /** Returns where the key of a record at this offset of a block starts. */
  static int keyOffset(byte[] block, int offset) {
    int valueLength = offset + VInts.sizeAt(block, offset);
    return valueLength + VInts.sizeAt(block, valueLength);
  }
}
