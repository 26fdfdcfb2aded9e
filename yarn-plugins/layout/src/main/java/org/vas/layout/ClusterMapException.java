package org.vas.layout;

/** The site description is unusable; a line per problem: file, key path, value and fix. */
public final class ClusterMapException extends Exception {
  private static final long serialVersionUID = 1L;

  public ClusterMapException(String message) {
    super(message);
  }
}
