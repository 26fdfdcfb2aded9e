package org.vas.shuffle.daemon;

import java.io.IOException;

/** Thrown when a daemon refuses a request. */
public final class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final Refusal refusal;

  RefusedException(Refusal refusal, String message) {
    super(message);
    this.refusal = refusal;
  }

  /** Returns the reason as the protocol numbers it. */
  public Refusal refusal() {
    return refusal;
  }
}
