package org.apache.spark.shuffle.vas;

/** The kinds of work for map output that are counted. */
enum WorkKind {
  /** Files that were made: data and indexes. */
  FILES("files"),
  /** Files that were opened for reading. */
  OPENS("opens"),
  /** Calls of the file system that read bytes. */
  READS("reads"),
  /** First reads of a map's blocks that had begun before a task asked for them. */
  READS_AHEAD("readsAhead"),
  /** Waits until a file is on the servers' disks. */
  SYNCS("syncs"),
  /** Indexes that were in memory, so that no file was opened. */
  KEPT_INDEXES("keptIndexes"),
  /** Bytes of map output that were written, without indexes. */
  BYTES_WRITTEN("bytesWritten"),
  /** Bytes of map output that were read, and whose checksums are right. */
  BYTES_VERIFIED("bytesVerified");

  private final String shown;

  WorkKind(String shown) {
    this.shown = shown;
  }

  /** Returns the name in sinks, logs and Spark's pages. */
  String shown() {
    return shown;
  }
}
