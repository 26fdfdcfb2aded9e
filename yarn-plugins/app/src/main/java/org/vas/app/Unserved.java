package org.vas.app;

/**
 * Tells when requests that only YARN, or a container of another kind, can serve have waited too long
 * beside containers that run one task after another. In stock each task that ends gives its room to
 * whatever YARN serves first; so the job then owes one container, and another after as many answers.
 *
 * <p>Not safe for several threads: the allocator uses it under its own lock.
 */
final class Unserved {
  // YARN serves at the answer after the request, or, placing in the background, the one after that.
  private static final int PATIENCE = 3;

  private int answers;
  private boolean isOwed;

  /**
   * Notes an answer of YARN.
   *
   * @param waits whether such requests wait
   * @param isServed whether the answer has containers
   */
  void answered(boolean waits, boolean isServed) {
    answers = waits && !isServed ? answers + 1 : 0;
    isOwed = answers >= PATIENCE;
  }

  /** Returns whether a container is owed; the same one is so once. */
  boolean take() {
    boolean owed = isOwed;
    if (owed) {
      isOwed = false;
      answers = 0;
    }
    return owed;
  }
}
