package org.vas.layout;

import java.util.Optional;
import java.util.function.Consumer;

/** A layout of something other than Lustre's striping; no OST owns its bytes. */
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

  /** Returns a copy of the value, whose format only the owner of the layout knows. */
  public byte[] value() {
    return value.clone();
  }

  @Override
  public void forEachRun(long offset, long length, Consumer<StripeRun> sink) {
    new RunBuilder(offset, length, sink).finish();
  }

  @Override
  public void forEachShare(long offset, long length, ShareSink sink) {
    forEachRun(offset, length, run -> sink.add(StripeRun.UNKNOWN, run.length()));
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
