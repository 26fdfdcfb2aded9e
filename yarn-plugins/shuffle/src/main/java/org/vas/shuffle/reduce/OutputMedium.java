package org.vas.shuffle.reduce;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.PassWriter;
import org.vas.shuffle.merge.RecordCursor;
import org.vas.shuffle.merge.SegmentReads;
import org.vas.shuffle.mof.SegmentFile;

/** The place where the map outputs of one job lie, as one reduce attempt reaches it. */
interface OutputMedium extends Closeable {
  /** Starts the threads that read; to be called once. */
  SegmentReads reads() throws IOException;

  /**
   * Returns the look at map outputs.
   *
   * @param memory the plan that bounds what the look holds
   */
  OutputLook look(MemoryPlan memory) throws IOException;

  /** Returns the file system that opens the files of segments, of maps and of passes. */
  FileSystem files();

  /**
   * Returns why the merge has a thread of its own only if the job asks for one; empty if it always
   * may.
   */
  Optional<String> whyInReduce();

  /**
   * Returns a cursor over all records of these segments in order, where others than this JVM merge
   * them; empty where this JVM has to.
   *
   * @throws IOException if they cannot be merged by anybody
   */
  default Optional<RecordCursor> merged(List<SegmentFile> segments) throws IOException {
    return Optional.empty();
  }

  /** Returns a writer of passes, into a directory of this attempt alone. */
  PassWriter passWriter() throws IOException;

  /** Removes the passes of earlier attempts, where their ends left any. */
  void removeOlderPasses();

  /** Ends the threads that read, and all connections; those in use fail. May be called twice. */
  @Override
  void close();
}
