package org.vas.shuffle.daemon;

import java.io.IOException;

/** The reason why a daemon refused a request; the protocol's numbers (docs/adr/0019). */
public enum DaemonRefusal {
  /** The job is unknown on that node, or has another secret there. */
  NOT_ALLOWED(1),
  /** The output does not exist, or it is not the job's user's. */
  GONE(2),
  /** The output is there, but its bytes are not what was written. */
  DAMAGED(3),
  /** The disk of that node failed. */
  SICK(4),
  /** The other node cannot be reached. */
  UNREACHABLE(5),
  /** More was asked than the protocol allows. */
  TOO_MUCH(6),
  /** This node itself is in trouble: its network, or its daemon. */
  HERE(7),
  /**
   * The job or its user has its whole share of the daemon's resources; a moment later there may be
   * more.
   */
  BUSY(8),
  /** Records of a map do not come in the order of their keys; the answer to a merge only. */
  DISORDER(9);

  private final int number;

  DaemonRefusal(int number) {
    this.number = number;
  }

  /**
   * Returns the refusal of this number.
   *
   * @throws IOException if no refusal has the number
   */
  static DaemonRefusal of(int number) throws IOException {
    for (DaemonRefusal each : values()) {
      if (each.number == number) {
        return each;
      }
    }
    throw new IOException("the daemon refused with the unknown number " + number);
  }

  /** Returns whether the same request may be granted a moment later. */
  boolean mayPass() {
    return this == NOT_ALLOWED || this == UNREACHABLE || this == HERE || this == BUSY;
  }

  /** Returns whether the output may be well all the same: to run its map again would not help. */
  public boolean isNotTheMaps() {
    return this == TOO_MUCH || this == HERE || this == BUSY;
  }
}
