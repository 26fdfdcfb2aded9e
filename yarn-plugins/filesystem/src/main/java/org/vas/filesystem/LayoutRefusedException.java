package org.vas.filesystem;

import java.io.IOException;

/** Lustre did not give a new file the layout asked for, though it can set layouts. */
final class LayoutRefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  LayoutRefusedException(String message, Throwable cause) {
    super(message, cause);
  }
}
