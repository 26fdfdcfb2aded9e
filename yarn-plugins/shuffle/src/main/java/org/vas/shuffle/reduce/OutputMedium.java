package org.vas.shuffle.reduce;

import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.PassWriter;
import org.vas.shuffle.merge.SegmentReads;

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

  /** Returns a writer of passes, into a directory of this attempt alone. */
  PassWriter passWriter() throws IOException;

  /** Removes the passes of earlier attempts, where their ends left any. */
  void removeOlderPasses();

  /** Ends the threads that read, and all connections; those in use fail. May be called twice. */
  @Override
  void close();
}
