package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import org.apache.hadoop.fs.Path;

/** A segment and the file it is in. */
public final class SegmentFile {
  private final Path file;
  private final Segment segment;

  public SegmentFile(Path file, Segment segment) {
    this.file = requireNonNull(file, "file");
    this.segment = requireNonNull(segment, "segment");
  }

  public Path file() {
    return file;
  }

  public Segment segment() {
    return segment;
  }

  /** Where it is, for messages. */
  @Override
  public String toString() {
    return file + " partition " + segment.partition() + " run " + segment.run();
  }
}
