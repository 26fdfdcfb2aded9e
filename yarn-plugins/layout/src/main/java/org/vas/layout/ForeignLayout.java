package org.vas.layout;

import java.util.List;
import java.util.Optional;

/** A layout that belongs to something else than Lustre's striping; no OST owns its bytes. */
public final class ForeignLayout implements StripeLayout {
  private final long type;
  private final long flags;
  private final byte[] value;

  ForeignLayout(long type, long flags, byte[] value) {
    this.type = type;
    this.flags = flags;
    this.value = value.clone();
  }

  public long type() {
    return type;
  }

  public long flags() {
    return flags;
  }

  /** The opaque value. */
  public byte[] value() {
    return value.clone();
  }

  @Override
  public List<StripeRun> ownersOf(long offset, long length) {
    RunBuilder runs = new RunBuilder(offset, length);
    runs.upTo(runs.end(), StripeRun.UNKNOWN);
    return runs.build();
  }

  @Override
  public Optional<PlainLayout> at(long offset) {
    return Optional.empty();
  }

  @Override
  public String toString() {
    return "foreign type " + type + ", " + value.length + " bytes";
  }
}
