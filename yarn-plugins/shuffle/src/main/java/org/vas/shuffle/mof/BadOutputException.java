package org.vas.shuffle.mof;

import java.io.IOException;

/** One map's output is not there, or is not what its manifest says: that map has to run again. */
public final class BadOutputException extends IOException {
  private static final long serialVersionUID = 1L;

  public BadOutputException(String message) {
    super(message);
  }

  public BadOutputException(String message, Throwable cause) {
    super(message, cause);
  }
}
