package org.vas.filesystem;

/** The properties of a new file that a caller asks for. */
final class NewFile {
  private final int mode;
  private final boolean overwrites;
  private final int bufferSize;
  private final long blockSize;

  /**
   * Describes the file that a caller wants.
   *
   * @param mode the exact permission bits
   * @param overwrites whether an existing file is replaced
   * @param bufferSize bytes, at least
   * @param blockSize bytes; not positive means the default
   */
  NewFile(int mode, boolean overwrites, int bufferSize, long blockSize) {
    this.mode = mode;
    this.overwrites = overwrites;
    this.bufferSize = bufferSize;
    this.blockSize = blockSize;
  }

  int mode() {
    return mode;
  }

  boolean overwrites() {
    return overwrites;
  }

  int bufferSize() {
    return bufferSize;
  }

  long blockSize() {
    return blockSize;
  }
}
