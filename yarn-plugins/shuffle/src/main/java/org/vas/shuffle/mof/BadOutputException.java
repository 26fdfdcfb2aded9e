package org.vas.shuffle.mof;

import java.io.IOException;

/** Thrown when one map's output is missing or not what its manifest says: the map must rerun. */
public final class BadOutputException extends IOException {
  private static final long serialVersionUID = 1L;

  public BadOutputException(String message) {
    super(message);
  }

  public BadOutputException(String message, Throwable cause) {
    super(message, cause);
  }
}
