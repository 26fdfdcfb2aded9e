package org.vas.scheduler.policy;

/**
 * The count of one ask row, as the application sees it and as the scheduler sees it.
 *
 * <p>They differ while grants are on their way to the application. Whether asks name a host is
 * judged by the application's count, because its rows are consistent with one another; whether
 * anything is left to wait for is judged by the scheduler's.
 */
final class AskRow {
  private int asked;
  private int live;

  int asked() {
    return asked;
  }

  int live() {
    return live;
  }

  void ask(int count) {
    asked = count;
    live = count;
  }

  /**
   * Takes the scheduler's count, which may be larger than the application's: the scheduler takes
   * back what it could not deliver.
   */
  void observe(int count) {
    live = count;
    asked = Math.max(asked, count);
  }

  void granted() {
    asked = Math.max(0, asked - 1);
    live = Math.max(0, live - 1);
  }

  boolean isEmpty() {
    return asked <= 0 && live <= 0;
  }
}
