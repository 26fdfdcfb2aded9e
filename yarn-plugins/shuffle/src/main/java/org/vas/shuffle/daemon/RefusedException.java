package org.vas.shuffle.daemon;

import java.io.IOException;

/** Thrown when a daemon refuses a request. */
public final class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final DaemonRefusal refusal;

  RefusedException(DaemonRefusal refusal, String message) {
    super(message);
    this.refusal = refusal;
  }

  /** Returns the reason as the protocol numbers it. */
  public DaemonRefusal refusal() {
    return refusal;
  }
}
