package org.vas.layout;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** Several layouts, each for an extent of the file (PFL, DoM, SEL) or as a mirror of it (FLR). */
public final class CompositeLayout implements StripeLayout {
  private final long generation;
  private final int flags;
  private final int mirrorCount;
  private final List<Component> components;

  CompositeLayout(long generation, int flags, int mirrorCount, List<Component> components) {
    this.generation = generation;
    this.flags = flags;
    this.mirrorCount = mirrorCount;
    this.components = List.copyOf(components);
  }

  public long generation() {
    return generation;
  }

  /** The composite's own flags (the FLR state), as stored. */
  public int flags() {
    return flags;
  }

  /** Copies of the file: 1 without mirrors. */
  public int mirrorCount() {
    return mirrorCount;
  }

  public List<Component> components() {
    return components;
  }

  @Override
  public Optional<PlainLayout> at(long offset) {
    return componentAt(offset).flatMap(component -> component.layout().at(offset));
  }

  @Override
  public List<StripeRun> ownersOf(long offset, long length) {
    RunBuilder runs = new RunBuilder(offset, length);
    for (long cut : cuts(runs)) {
      componentAt(runs.position())
          .filter(Component::isPlaced)
          .flatMap(component -> component.layout().at(offset))
          .ifPresent(plain -> plain.addRuns(runs, cut));
      runs.upTo(cut, StripeRun.UNKNOWN);
    }
    return runs.build();
  }

  // Where the component in force may change within the range; the range's end is the last.
  private long[] cuts(RunBuilder runs) {
    LongStream borders = components.stream()
        .flatMapToLong(component -> LongStream.of(component.start(), component.end()))
        .filter(border -> border > runs.position() && border < runs.end());
    return LongStream.concat(borders, LongStream.of(runs.end())).sorted().distinct().toArray();
  }

  // Of several mirrors: one that is in sync, better one preferred for reading, better one with
  // objects; Lustre's client chooses the same way and takes the first among equals.
  private Optional<Component> componentAt(long offset) {
    return components.stream()
        .filter(component -> component.covers(offset))
        .min(Comparator.comparingInt(Component::readRank));
  }

  @Override
  public String toString() {
    return "composite of " + components;
  }
}
