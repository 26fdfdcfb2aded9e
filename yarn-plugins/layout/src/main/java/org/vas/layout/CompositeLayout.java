package org.vas.layout;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Several layouts, each for an extent of the file (PFL, DoM, SEL) or as a mirror of it (FLR). */
public final class CompositeLayout implements StripeLayout {
  // Of several mirrors in sync the one preferred for reading, then the lowest.
  private static final Comparator<LayoutComponent> BEST_TO_READ =
      Comparator.comparing((LayoutComponent component) -> !component.isPreferredForReading())
          .thenComparing(LayoutComponent::mirrorId);

  private final long generation;
  private final int flags;
  private final int mirrorCount;
  private final List<LayoutComponent> components;

  CompositeLayout(long generation, int flags, int mirrorCount, List<LayoutComponent> components) {
    this.generation = generation;
    this.flags = flags;
    this.mirrorCount = mirrorCount;
    this.components = List.copyOf(components);
  }

  public long generation() {
    return generation;
  }

  /** Returns the composite's own flags (the FLR state), as stored. */
  public int flags() {
    return flags;
  }

  /** Returns how many copies of the file there are: 1 without mirrors. */
  public int mirrorCount() {
    return mirrorCount;
  }

  public List<LayoutComponent> components() {
    return components;
  }

  @Override
  public Optional<PlainLayout> at(long offset) {
    Stream<LayoutComponent> readable = readableAt(offset);
    Stream<LayoutComponent> others = components.stream().filter(component -> component.covers(offset));
    return placedAt(offset).or(() -> Stream.concat(readable, others)
        .flatMap(component -> component.layout().at(offset).stream()).findFirst());
  }

  @Override
  public void forEachRun(long offset, long length, Consumer<StripeRun> sink) {
    RunBuilder runs = new RunBuilder(offset, length, sink);
    for (long border : borders(runs.position(), runs.end())) {
      placedAt(runs.position()).ifPresent(plain -> plain.addRuns(runs, border));
      runs.upTo(border, StripeRun.UNKNOWN);
    }
    runs.finish();
  }

  @Override
  public void forEachShare(long offset, long length, ShareSink sink) {
    long start = offset;
    for (long border : borders(offset, RunBuilder.endOf(offset, length))) {
      Optional<PlainLayout> plain = placedAt(start);
      if (plain.isPresent()) {
        plain.get().addShares(start, border, sink);
      } else if (border > start) {
        sink.add(StripeRun.UNKNOWN, border - start);
      }
      start = border;
    }
  }

  // Where another component may come into force within the range, and the range's end.
  private long[] borders(long start, long end) {
    LongStream borders = components.stream()
        .flatMapToLong(component -> LongStream.of(component.start(), component.end()))
        .filter(border -> border > start && border < end);
    return LongStream.concat(borders, LongStream.of(end)).sorted().distinct().toArray();
  }

  private Optional<PlainLayout> placedAt(long offset) {
    return readableAt(offset)
        .filter(component -> !component.isExtensionSpace())
        .flatMap(component -> component.layout().at(offset).stream())
        .filter(PlainLayout::isPlaced)
        .findFirst();
  }

  private Stream<LayoutComponent> readableAt(long offset) {
    return components.stream()
        .filter(component -> component.covers(offset) && component.isReadable())
        .sorted(BEST_TO_READ);
  }

  @Override
  public String toString() {
    return "composite of " + components;
  }
}
