package org.vas.workloads.fault;

import org.vas.conf.ConfKey;

/** Keys of the faults that a job meets. {@code fs.lustre.impl} must be {@link FaultyLustre}. */
public interface FaultConf {
  ConfKey<String> POINTS = ConfKey.text("fault.points", "",
      "Named points, separated by ;, each NAME PROCESS CALL PATH NTH ACTION; see FaultPoint.");
  ConfKey<String> DIRECTORY = ConfKey.text("fault.directory", "",
      "Local directory, the same for all: a held process says so in NAME there, and goes on when"
          + " NAME.go appears.");
}
