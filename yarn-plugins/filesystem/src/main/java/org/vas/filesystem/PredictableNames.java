package org.vas.filesystem;

import java.util.List;

/**
 * The names of files and directories that VAS makes and another process could guess. Whoever may
 * write the directory can put something there first: so such a name is made by mknod or mkdir,
 * which follow no link, and opened through {@link OwnFile}, {@link GuardedEntry} or {@link
 * TreeRemover}.
 */
public final class PredictableNames {
  /** The directory of a user's jobs, as MapReduce names it. */
  public static final String STAGING = ".staging";
  /** The directory of a job's map output. */
  public static final String SHUFFLE = "shuffle";
  /** The name of a map attempt's manifest, by which its output is published. */
  public static final String MANIFEST = "manifest";
  /** The name under which a manifest is written, until it is whole and renamed. */
  public static final String UNPUBLISHED = "manifest.tmp";
  /** The name of the one map output file in the packed layout. */
  public static final String PACKED = "packed.mof";

  private static final String MOF = ".mof";

  private PredictableNames() {}

  /** Returns the file name of one partition in the layout per-reducer. */
  public static String perReducer(int partition) {
    return String.format("%05d%s", partition, MOF);
  }

  /**
   * Returns the name of a map output file after {@code generation} merges of runs; 0 gives {@code
   * first}.
   */
  public static String ofGeneration(String first, int generation) {
    return generation == 0 ? first : first.replace(MOF, "-" + generation + MOF);
  }

  /** Returns the name of the file that a merge pass of a reduce attempt writes. */
  public static String pass(int run) {
    return "pass-" + run + MOF;
  }

  /** Returns the name of a new file, until it takes the place of the file that it replaces. */
  public static String replacement(long random) {
    return ".vas-create-" + Long.toHexString(random);
  }

  /** Returns the name of the directory of one shuffle of a Spark application. */
  public static String sparkShuffle(int shuffle) {
    return "shuffle_" + shuffle;
  }

  /** Returns the name of the data file of one attempt of a map task of Spark. */
  public static String sparkData(long taskAttempt) {
    return "map_" + taskAttempt + ".data";
  }

  /** Returns the name of the index of one attempt's data file, by which Spark's map is published. */
  public static String sparkIndex(long taskAttempt) {
    return "map_" + taskAttempt + ".index";
  }

  /** Returns the name under which that index is written, until it is whole and renamed. */
  public static String sparkUnpublished(long taskAttempt) {
    return sparkIndex(taskAttempt) + ".tmp";
  }

  /** A regular expression that matches the paths of the files of Spark's map tasks. */
  public static final String SPARK_MAPS = ".*/shuffle_\\d+/map_\\d+\\..*";

  /** A regular expression that matches the names that {@link #pass} returns. */
  public static final String PASSES = "pass-\\d+\\.mof";

  /**
   * The beginning of the target of a link that claims a name for a rename; no file has such a name.
   */
  public static final String CLAIM = ".vas-rename-claim-";

  /** Returns one name of each kind of file in the directory of an attempt. */
  public static List<String> filesOfAttempts() {
    return List.of(MANIFEST, UNPUBLISHED, PACKED, ofGeneration(PACKED, 1), perReducer(0),
        ofGeneration(perReducer(0), 1), pass(0));
  }
}
