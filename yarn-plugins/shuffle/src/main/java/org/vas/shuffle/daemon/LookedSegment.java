package org.vas.shuffle.daemon;

import java.util.Optional;
import java.util.zip.CRC32C;
import org.vas.shuffle.mof.Segment;

/** Sizes and checksums of one segment, as the daemon of its node read them. */
public final class LookedSegment {
  private static final int END_MARKER = 2;

  private final long storedBytes;
  private final long rawBytes;
  private final int[] checksums;
  private final byte[] held;

  LookedSegment(long storedBytes, long rawBytes, int[] checksums, byte[] held) {
    this.storedBytes = storedBytes;
    this.rawBytes = rawBytes;
    this.checksums = checksums;
    this.held = held;
  }

  /**
   * Returns the segment as a merge reads it, whose bytes begin at offset 0; empty if it has no record,
   * so that nothing of it is read.
   *
   * @param padding bytes that encryption adds, which stock's index counts as raw ones too
   */
  public Optional<Segment> segment(int partition, int padding) {
    long raw = rawBytes - padding;
    return storedBytes == 0 || raw <= END_MARKER ? Optional.empty()
        : Optional.of(new Segment(
            partition, 0, 0, 0, storedBytes, raw, Segment.UNCOUNTED, checksums));
  }

  /** Returns the stored bytes, or an empty array if they did not come with the look; not copied. */
  public byte[] held() {
    return held;
  }

  /** Returns whether the bytes that came with the look match their checksums. */
  public boolean isHeldRight() {
    CRC32C crc = new CRC32C();
    for (int at = 0; at < held.length; at += Segment.CHECKSUM_BYTES) {
      crc.reset();
      crc.update(held, at, Math.min(Segment.CHECKSUM_BYTES, held.length - at));
      if ((int) crc.getValue() != checksums[at / Segment.CHECKSUM_BYTES]) {
        return false;
      }
    }
    return true;
  }
}
