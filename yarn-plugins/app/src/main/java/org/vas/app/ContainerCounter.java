package org.vas.app;

/** Counters of a job's containers, besides Hadoop's own. */
public enum ContainerCounter {
  /** The containers that were given to a first attempt; as Apache Tez names it. */
  CONTAINERS_LAUNCHED,

  /** The attempts that ran in a container in which another attempt had run. */
  CONTAINERS_REUSED,

  /** The JVMs that ended because their task had changed the class loader. */
  JVMS_ENDED_CLASS_LOADER,

  /** The JVMs that ended because their task had left threads that keep them alive. */
  JVMS_ENDED_THREADS,

  /** The JVMs that ended because their task had added a shutdown hook. */
  JVMS_ENDED_SHUTDOWN_HOOK,

  /** The JVMs that ended because their task had removed or replaced a file of the container. */
  JVMS_ENDED_FILES,

  /** The JVMs that ended because their task had left the heap too full. */
  JVMS_ENDED_HEAP
}
