package org.vas.scheduler.policy;

import java.util.Objects;

/** One decision: a host's asks became strict or wider, or a container was granted. */
public final class PlacementEvent {
  /** What happened; the label is what the decision log prints. */
  public enum Type {
    STRICT("strict"),
    RELAXED_PARTNER("relaxed-partner"),
    RELAXED_ANY("relaxed-any"),
    GRANT("grant");

    private final String label;

    Type(String label) {
      this.label = label;
    }

    @Override
    public String toString() {
      return label;
    }
  }

  /** Stands for a host where there is none: the asks that name no host. */
  public static final String NO_HOST = "-";

  private final Type type;
  private final AskKey key;
  private final String host;
  private final String node;
  private final Locality locality;
  private final long waitedMillis;
  private final Cause cause;

  private PlacementEvent(Type type, AskKey key, String host, String node, Locality locality,
      long waitedMillis, Cause cause) {
    this.type = Objects.requireNonNull(type);
    this.key = Objects.requireNonNull(key);
    this.host = Objects.requireNonNull(host);
    this.node = node;
    this.locality = locality;
    this.waitedMillis = waitedMillis;
    this.cause = Objects.requireNonNull(cause);
  }

  static PlacementEvent stage(
      AskKey key, String host, Stage stage, long waitedMillis, Cause cause) {
    Type type = stage == Stage.STRICT ? Type.STRICT
        : stage == Stage.PARTNER ? Type.RELAXED_PARTNER : Type.RELAXED_ANY;
    return new PlacementEvent(type, key, host, null, null, waitedMillis, cause);
  }

  static PlacementEvent grant(AskKey key, String host, String node, Locality locality,
      long waitedMillis, Cause cause) {
    return new PlacementEvent(Type.GRANT, key, host, Objects.requireNonNull(node),
        Objects.requireNonNull(locality), waitedMillis, cause);
  }

  public Type type() {
    return type;
  }

  public AskKey key() {
    return key;
  }

  /** The host that was asked for, or {@link #NO_HOST}. */
  public String host() {
    return host;
  }

  /** Where the container was granted; only for {@link Type#GRANT}. */
  public String node() {
    return node;
  }

  /** Only for {@link Type#GRANT}. */
  public Locality locality() {
    return locality;
  }

  /** For a local grant: since the ask, or since the host last ran one of the key; else the wait. */
  public long waitedMillis() {
    return waitedMillis;
  }

  public Cause cause() {
    return cause;
  }
}
