package org.vas.shuffle.site;

/** Thrown when a history has broken a promise of the site. */
final class Broken extends AssertionError {
  private static final long serialVersionUID = 1L;

  /** The promises of a site, which hold whatever happens on it. */
  enum Invariant {
    /** I1: the output of a job that succeeded is exactly that of its input. */
    WRONG_OUTPUT,
    /** I2: bytes whose hflush or close returned, and renames that said true, are there. */
    LOST_BYTES,
    /** I3: nothing is left of jobs that have been over for longer than the grace. */
    LEFTOVER,
    /** I4: a file outside the job's directories is never changed. */
    STRANGERS_FILE,
    /** A job that nobody hinders comes to its end. */
    STUCK
  }

  private final Invariant invariant;

  Broken(Invariant invariant, String what) {
    this(invariant, what, null);
  }

  Broken(Invariant invariant, String what, Throwable cause) {
    super(what.startsWith(invariant + ": ") ? what : invariant + ": " + what, cause);
    this.invariant = invariant;
  }

  Invariant invariant() {
    return invariant;
  }
}
