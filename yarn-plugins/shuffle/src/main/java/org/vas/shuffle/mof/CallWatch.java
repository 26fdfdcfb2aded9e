package org.vas.shuffle.mof;

import org.apache.hadoop.fs.Path;

/** Called before each file-system call that may block, so that a hung one can be named. */
@FunctionalInterface
public interface CallWatch {
  /** A watch that ignores the calls it is told of. */
  CallWatch NONE = file -> {};

  /** Called before each call on a file; the call before has returned. */
  void calling(Path file);
}
