package org.vas.scheduler.sim;

import java.util.List;

/** The job and the cluster to simulate; {@code --name value} on the command line. */
final class SimOptions {
  private int nodes = 1_000;
  private int splits = 100_000;
  private int slots = 4;
  private int deadNodes;
  private int slowNodes;
  private int skew;
  private boolean uneven;
  private int remoteExtraPercent;
  private long nodeWaitMillis = 20_000;
  private long partnerWaitMillis = 5_000;
  private long skewWaitMillis = 1_000;
  private long seed = 1;

  SimOptions() {}

  /**
   * Returns the options that the words of a command line name.
   *
   * @throws IllegalArgumentException with one line, if a word is unknown or its value not possible
   */
  static SimOptions parse(List<String> args) {
    SimOptions options = new SimOptions();
    for (int i = 0; i < args.size(); i += 2) {
      if (i + 1 == args.size()) {
        throw new IllegalArgumentException(args.get(i) + ": needs a value");
      }
      options.set(args.get(i), args.get(i + 1));
    }
    return options.checked();
  }

  private void set(String name, String text) {
    int value = number(name, text);
    switch (name) {
      case "--nodes": nodes = value; break;
      case "--splits": splits = value; break;
      case "--slots": slots = value; break;
      case "--dead": deadNodes = value; break;
      case "--slow": slowNodes = value; break;
      case "--skew": skew = value; break;
      case "--uneven": uneven = value != 0; break;
      case "--remote-extra": remoteExtraPercent = value; break;
      case "--node-wait-ms": nodeWaitMillis = value; break;
      case "--partner-wait-ms": partnerWaitMillis = value; break;
      case "--skew-wait-ms": skewWaitMillis = value; break;
      case "--seed": seed = value; break;
      default: throw new IllegalArgumentException(name + ": unknown option");
    }
  }

  private static int number(String name, String text) {
    try {
      return Integer.parseUnsignedInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + ": '" + text + "' is not a whole number", e);
    }
  }

  private SimOptions checked() {
    if (nodes < 1 || slots < 1 || deadNodes >= nodes || slowNodes > nodes - deadNodes) {
      throw new IllegalArgumentException("--nodes: at least one must be alive and have a slot");
    }
    if (skew > nodes) {
      throw new IllegalArgumentException("--skew: there are only " + nodes + " nodes");
    }
    return this;
  }

  int nodes() {
    return nodes;
  }

  int splits() {
    return splits;
  }

  /** Returns the number of tasks a node runs at a time. */
  int slots() {
    return slots;
  }

  int deadNodes() {
    return deadNodes;
  }

  /** Returns the number of nodes whose tasks take four times as long. */
  int slowNodes() {
    return slowNodes;
  }

  /** Returns on how many nodes, the first ones, all splits lie; 0 for all nodes. */
  int skew() {
    return skew;
  }

  /** Returns whether splits are drawn at random instead of striped over all nodes. */
  boolean uneven() {
    return uneven;
  }

  /** Returns by how many percent a task takes longer on a node that does not own its split. */
  int remoteExtraPercent() {
    return remoteExtraPercent;
  }

  long nodeWaitMillis() {
    return nodeWaitMillis;
  }

  long partnerWaitMillis() {
    return partnerWaitMillis;
  }

  long skewWaitMillis() {
    return skewWaitMillis;
  }

  long seed() {
    return seed;
  }
}
