package org.vas.layout;

/** One thing that is wrong with a site description, and its fix. */
final class Problem {
  private final KeyPath path;
  private final String what;
  private final String fix;

  Problem(KeyPath path, String what, String fix) {
    this.path = path;
    this.what = what;
    this.fix = fix;
  }

  KeyPath path() {
    return path;
  }

  /** {@code FILE: hosts[1].address: WHAT; FIX}. */
  String line(Object file) {
    String where = path.isRoot() ? file.toString() : file + ": " + path;
    return where + ": " + what + "; " + fix;
  }
}
