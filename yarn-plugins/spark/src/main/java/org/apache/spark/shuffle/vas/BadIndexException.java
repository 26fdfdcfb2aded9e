package org.apache.spark.shuffle.vas;

import java.io.IOException;

/** Thrown when the bytes of an index are not what a map wrote. */
final class BadIndexException extends IOException {
  private static final long serialVersionUID = 1L;

  BadIndexException(String message) {
    super(message);
  }
}
