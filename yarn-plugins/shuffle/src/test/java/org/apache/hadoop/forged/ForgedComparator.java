package org.apache.hadoop.forged;

import org.apache.hadoop.io.Text;

/** A job's class in a package of Hadoop's name: nothing keeps a job from that. */
public final class ForgedComparator extends Text.Comparator {}
