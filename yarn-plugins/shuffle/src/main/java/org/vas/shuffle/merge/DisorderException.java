package org.vas.shuffle.merge;

import java.io.IOException;

/** Thrown when records reach reduce() out of order, so that its groups would be wrong. */
public final class DisorderException extends IOException {
  private static final long serialVersionUID = 1;

  /** Makes the exception with a message that names job and attempt. */
  public DisorderException(String message) {
    super(message);
  }
}
