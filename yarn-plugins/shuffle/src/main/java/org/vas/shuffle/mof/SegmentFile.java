package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/** A segment, the file it is in, and the server that its bytes come from. Immutable. */
public final class SegmentFile {
  /** Bytes of memory that one takes at most, besides its checksums and the path of its file. */
  static final int MEMORY = 192;

  private final Path file;
  private final Segment segment;
  private final String server;
  private final byte[] held;

  /** Makes a segment file whose server is not known. */
  public SegmentFile(Path file, Segment segment) {
    this(file, segment, "");
  }

  /**
   * Describes a segment in a file whose server is known.
   *
   * @param server the OST or machine that serves the bytes: reads of one server queue up together
   */
  public SegmentFile(Path file, Segment segment, String server) {
    this(file, segment, server, null);
  }

  private SegmentFile(Path file, Segment segment, String server, byte[] held) {
    this.file = requireNonNull(file, "file");
    this.segment = requireNonNull(segment, "segment");
    this.server = requireNonNull(server, "server");
    this.held = held;
  }

  /**
   * Returns this segment with its stored bytes, which were verified; they are not copied.
   * @throws IllegalArgumentException if they are more or fewer than the segment has
   */
  public SegmentFile holding(byte[] stored) {
    if (stored.length != segment.storedBytes()) {
      throw new IllegalArgumentException(this + ": " + stored.length + " bytes held");
    }
    return new SegmentFile(file, segment, server, stored);
  }

  /** Returns this segment without its stored bytes. */
  public SegmentFile holdingNothing() {
    return held == null ? this : new SegmentFile(file, segment, server);
  }

  /**
   * Returns the bytes of memory that these segments' descriptions take at most, without the paths
   * of their files, one for each map, and without the stored bytes that they hold.
   */
  public static long memory(List<SegmentFile> segments) {
    long sum = 0;
    for (SegmentFile each : segments) {
      sum += MEMORY + (long) each.segment.checksumCount() * Integer.BYTES;
    }
    return sum;
  }

  public Path file() {
    return file;
  }

  public Segment segment() {
    return segment;
  }

  public String server() {
    return server;
  }

  /** Returns all stored bytes; empty if this does not hold them. */
  public Optional<byte[]> held() {
    return Optional.ofNullable(held);
  }

  /** Returns file, partition and run of the segment, for messages. */
  @Override
  public String toString() {
    return file + " partition " + segment.partition() + " run " + segment.run();
  }
}
