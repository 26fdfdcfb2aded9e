package org.vas.shuffle.mof;

/**
 * One partition of one run: where its stored bytes are, and what they must be.
 *
 * <p>Stored bytes are what stands in the file: compressed and encrypted where the job says so. Raw
 * bytes are the IFile stream before both, with its end marker.
 */
public final class Segment {
  /** Stored bytes under one checksum; the last of a segment may be shorter. */
  public static final int CHECKSUM_BYTES = 64 << 10;

  /** The number of records of a segment that stock wrote: its index does not say. */
  public static final long UNCOUNTED = -1;

  private static final int[] NO_CHECKSUMS = {};

  private final int partition;
  private final int run;
  private final int file;
  private final long offset;
  private final long storedBytes;
  private final long rawBytes;
  private final long records;
  private final int[] checksums;

  /**
   * Describes a segment; offsets and lengths are in bytes.
   *
   * @param file index into {@link Manifest#files()}
   * @param checksums CRC32C of each {@link #CHECKSUM_BYTES} of the stored bytes; not copied
   * @throws IllegalArgumentException if a number is negative or the checksums do not fit the length
   */
  public Segment(int partition, int run, int file, long offset, long storedBytes, long rawBytes,
      long records, int... checksums) {
    this(checksums, partition, run, file, offset, storedBytes, rawBytes, records);
    if (checksums.length != checksumsOf(storedBytes)) {
      throw new IllegalArgumentException(
          checksums.length + " checksums for " + storedBytes + " bytes");
    }
  }

  private Segment(int[] checksums, int partition, int run, int file, long offset,
      long storedBytes, long rawBytes, long records) {
    if (partition < 0 || run < 0 || file < 0 || offset < 0 || storedBytes <= 0 || rawBytes <= 0
        || (records <= 0 && records != UNCOUNTED) || offset > Long.MAX_VALUE - storedBytes) {
      throw new IllegalArgumentException("impossible segment: partition " + partition + ", run "
          + run + ", file " + file + ", offset " + offset + ", stored " + storedBytes + ", raw "
          + rawBytes + ", records " + records);
    }
    this.partition = partition;
    this.run = run;
    this.file = file;
    this.offset = offset;
    this.storedBytes = storedBytes;
    this.rawBytes = rawBytes;
    this.records = records;
    this.checksums = checksums;
  }

  /** Returns this segment with another number of its run and of its file. */
  public Segment renumbered(int newRun, int newFile) {
    return new Segment(
        partition, newRun, newFile, offset, storedBytes, rawBytes, records, checksums);
  }

  /** Returns a segment that can be described, but not read: it has no checksums. */
  static Segment withoutChecksums(int partition, int run, int file, long offset,
      long storedBytes, long rawBytes, long records) {
    return new Segment(NO_CHECKSUMS, partition, run, file, offset, storedBytes, rawBytes, records);
  }

  /** Returns how many checksums that many stored bytes have. */
  public static long checksumsOf(long storedBytes) {
    return (storedBytes - 1) / CHECKSUM_BYTES + 1;
  }

  public int partition() {
    return partition;
  }

  public int run() {
    return run;
  }

  public int file() {
    return file;
  }

  public long offset() {
    return offset;
  }

  /** Returns the offset of the first byte after the segment. */
  public long end() {
    return offset + storedBytes;
  }

  public long storedBytes() {
    return storedBytes;
  }

  public long rawBytes() {
    return rawBytes;
  }

  /** Returns the number of records, or {@link #UNCOUNTED}. */
  public long records() {
    return records;
  }

  /** Returns the CRC32C of the stored bytes from {@code block * CHECKSUM_BYTES} on. */
  public int checksum(int block) {
    return checksums[block];
  }

  /** Returns the number of checksums, one for each {@link #CHECKSUM_BYTES}. */
  public int checksumCount() {
    return checksums.length;
  }
}
