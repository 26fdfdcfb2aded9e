package org.vas.scheduler.policy;

import java.util.Objects;

/** One decision: a host's asks became strict or wider, or a container was granted. */
public final class PlacementEvent {
  /** The kind of decision; the decision log prints its label. */
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

  /** The host of asks that name none. */
  public static final String NO_HOST = "-";

  private final Type type;
  private final AskKey key;
  private final String host;
  private final String node;
  private final GrantLocality locality;
  private final long waitedMillis;
  private final RemoteCause cause;

  private PlacementEvent(Type type, AskKey key, String host, String node, GrantLocality locality,
      long waitedMillis, RemoteCause cause) {
    this.type = Objects.requireNonNull(type);
    this.key = Objects.requireNonNull(key);
    this.host = Objects.requireNonNull(host);
    this.node = node;
    this.locality = locality;
    this.waitedMillis = waitedMillis;
    this.cause = Objects.requireNonNull(cause);
  }

  static PlacementEvent stage(
      AskKey key, String host, WaitStage stage, long waitedMillis, RemoteCause cause) {
    Type type = stage == WaitStage.STRICT ? Type.STRICT
        : stage == WaitStage.PARTNER ? Type.RELAXED_PARTNER : Type.RELAXED_ANY;
    return new PlacementEvent(type, key, host, null, null, waitedMillis, cause);
  }

  static PlacementEvent grant(AskKey key, String host, String node, GrantLocality locality,
      long waitedMillis, RemoteCause cause) {
    return new PlacementEvent(Type.GRANT, key, host, Objects.requireNonNull(node),
        Objects.requireNonNull(locality), waitedMillis, cause);
  }

  public Type type() {
    return type;
  }

  public AskKey key() {
    return key;
  }

  /** Returns the host that was asked for, or {@link #NO_HOST}. */
  public String host() {
    return host;
  }

  /** Returns the node where the container was granted; only for {@link Type#GRANT}. */
  public String node() {
    return node;
  }

  /** Returns the locality of the container; only for {@link Type#GRANT}. */
  public GrantLocality locality() {
    return locality;
  }

  /**
   * Returns how long the ask waited, in milliseconds. A grant on the ask's own host counts from the
   * ask, or from the host's last container of the key.
   */
  public long waitedMillis() {
    return waitedMillis;
  }

  public RemoteCause cause() {
    return cause;
  }
}
