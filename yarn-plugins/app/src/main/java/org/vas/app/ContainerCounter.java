package org.vas.app;

/** A job's counters of its containers, beside Hadoop's own. */
public enum ContainerCounter {
  /** The containers that were given to a first attempt; as Apache Tez names it. */
  CONTAINERS_LAUNCHED,

  /** The attempts that ran in a container that another had run in. */
  CONTAINERS_REUSED
}
