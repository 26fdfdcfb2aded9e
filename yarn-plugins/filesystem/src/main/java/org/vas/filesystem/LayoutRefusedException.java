package org.vas.filesystem;

import java.io.IOException;

/** Thrown when Lustre can set layouts, and did not give a new file the layout asked for. */
final class LayoutRefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  LayoutRefusedException(String message, Throwable cause) {
    super(message, cause);
  }
}
