package org.vas.shuffle.reduce;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.PassWriter;

/** The place where the map outputs of one job lie, as one reduce attempt reaches it. */
interface OutputMedium extends Closeable {
  /** Returns the look at each map's output; what it holds is part of this plan. */
  OutputLook look(MemoryPlan memory) throws IOException;

  /** Returns the file system that opens the files of segments, of maps and of passes. */
  FileSystem files();

  /** Returns a writer of passes, into a directory of this attempt alone. */
  PassWriter passWriter() throws IOException;

  /** Removes the passes of earlier attempts, where their ends left any. */
  void removeOlderPasses();

  /** Ends all connections; those in use fail. May be called twice. */
  @Override
  void close();
}
