package org.vas.site;

/**
 * Thrown when the site description cannot be used; the message names file, line, key path and
 * problem.
 */
public final class ClusterMapException extends Exception {
  private static final long serialVersionUID = 1L;

  public ClusterMapException(String message) {
    super(message);
  }
}
