package org.vas.shuffle.model;

/** One thing that happens to a job; the numbers are taken modulo what there is. */
final class Step {
  /** The kinds of things that happen to a job. */
  enum Kind {
    /** An attempt of a map runs, and succeeds. */
    MAP,
    /** The mapper throws half way. */
    MAPPER_THROWS,
    /** The n-th call of the attempt fails. */
    MAP_ERRNO,
    /** The attempt is killed at its n-th call. */
    MAP_KILLED,
    /** The attempt publishes, and dies before it has said so. */
    MAP_DIES_PUBLISHED,
    /** What an attempt left is changed. */
    DAMAGE,
    /** The application master reports an event of an attempt, for the first time or again. */
    EVENT,
    /** A map fails for good. */
    TIP_FAILED,
    /** The application master dies, and another goes on. */
    MASTER_RESTARTS,
    /** An attempt of a reduce runs. */
    REDUCE,
    /** The same, and its n-th call fails. */
    REDUCE_ERRNO,
    /** The same, and at its n-th call an output is damaged. */
    REDUCE_MEETS_DAMAGE,
    /** The same, and events start again meanwhile. */
    REDUCE_MEETS_RESET,
    /** The node's daemon is killed, between the steps. */
    DAEMON_KILLED,
    /** An attempt of a reduce runs, and the node's daemon is killed meanwhile. */
    REDUCE_MEETS_KILL
  }

  final Kind kind;
  final int task;
  final int attempt;
  final int number;

  Step(Kind kind, int task, int attempt, int number) {
    this.kind = kind;
    this.task = task;
    this.attempt = attempt;
    this.number = number;
  }

  @Override
  public String toString() {
    return kind + "(" + task + ", " + attempt + ", " + number + ")";
  }
}
