package org.vas.shuffle.mof;

import java.io.IOException;

/**
 * Thrown when bytes are not the manifest that a map attempt published: cut, changed, or of another
 * version.
 */
public final class ManifestException extends IOException {
  private static final long serialVersionUID = 1L;

  public ManifestException(String message) {
    super(message);
  }

  public ManifestException(String message, Throwable cause) {
    super(message, cause);
  }
}
