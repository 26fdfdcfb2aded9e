package org.vas.shuffle.mof;

/** What an attempt asks of the metadata server; each is a job counter. */
public enum MetadataOperation {
  DIRECTORIES_CREATED, FILES_CREATED, OPENS, RENAMES, DELETES, STATS, LISTINGS;

  /** The group of these counters. */
  public static final String GROUP = "VAS shuffle";
}
