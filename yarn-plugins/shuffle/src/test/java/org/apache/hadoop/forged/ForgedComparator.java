package org.apache.hadoop.forged;

import org.apache.hadoop.io.Text;

/** A class of a job in a package named like Hadoop's: nothing keeps a job from that. */
public final class ForgedComparator extends Text.Comparator {}
