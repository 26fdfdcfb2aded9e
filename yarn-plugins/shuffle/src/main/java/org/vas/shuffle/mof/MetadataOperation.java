package org.vas.shuffle.mof;

/** A request of an attempt to the metadata server; each kind is a job counter. */
public enum MetadataOperation {
  DIRECTORIES_CREATED, FILES_CREATED, OPENS, RENAMES, DELETES, STATS, LISTINGS;

  /** The name of the group that these job counters are in. */
  public static final String GROUP = "VAS shuffle";
}
