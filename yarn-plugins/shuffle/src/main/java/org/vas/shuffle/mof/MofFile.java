package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

/** A file of segments in the directory of a map attempt. */
public final class MofFile {
  private final String name;
  private final long length;

  /**
   * Describes a file.
   *
   * @param name its name in the attempt's directory
   * @param length its length in bytes
   * @throws IllegalArgumentException for a name that leads elsewhere, or a negative length
   */
  public MofFile(String name, long length) {
    requireNonNull(name, "name");
    if (name.isEmpty() || name.indexOf('/') >= 0 || name.startsWith(".") || length < 0) {
      throw new IllegalArgumentException("impossible MOF: '" + name + "', " + length + " bytes");
    }
    this.name = name;
    this.length = length;
  }

  public String name() {
    return name;
  }

  /** Returns the length of the file in bytes. */
  public long length() {
    return length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof MofFile && name.equals(((MofFile) other).name)
        && length == ((MofFile) other).length;
  }

  @Override
  public int hashCode() {
    return 31 * name.hashCode() + Long.hashCode(length);
  }
}
