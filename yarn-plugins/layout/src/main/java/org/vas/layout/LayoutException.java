package org.vas.layout;

/**
 * Thrown when bytes are not a Lustre layout; the message is one line and says what is wrong with
 * them.
 */
public final class LayoutException extends Exception {
  private static final long serialVersionUID = 1L;

  public LayoutException(String message) {
    super(message);
  }
}
