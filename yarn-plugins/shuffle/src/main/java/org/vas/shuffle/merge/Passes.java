package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.List;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.order.KeyOrder;

/** Merges segments into fewer and larger ones, until all that are left can be open at once. */
public final class Passes {
  private final SegmentOpener opener;
  private final PassWriter writer;
  private final MemoryPlan memory;
  private final MemoryPlan forPass;
  private final KeyOrder order;
  private final Listener listener;

  /** Receives the progress of passes, once after each of them. */
  @FunctionalInterface
  public interface Listener {
    /** Called after each pass with the records it wrote and the segments that are left. */
    void passed(long records, int left);
  }

  /**
   * Makes the passes of one reduce attempt.
   *
   * @param memory the plan into which all segments that are left must fit
   * @param budget bytes for a pass: reading, decoding and writing
   */
  public Passes(SegmentOpener opener, PassWriter writer, MemoryPlan memory, long budget,
      KeyOrder order, Listener listener) {
    this.opener = requireNonNull(opener, "opener");
    this.writer = requireNonNull(writer, "writer");
    this.memory = requireNonNull(memory, "memory");
    this.forPass = memory.forPass(budget, writer.memory());
    this.order = requireNonNull(order, "order");
    this.listener = requireNonNull(listener, "listener");
  }

  /**
   * Merges segments of the list until all can be open at once: the same records in the same order.
   */
  public void fit(List<SegmentFile> segments) throws IOException {
    if (memory.fits(segments)) {
      return;
    }
    // A pass needs the memory itself.
    segments.replaceAll(SegmentFile::holdingNothing);
    while (!memory.fits(segments)) {
      List<SegmentFile> inputs = PassPlan.next(segments,
          each -> each.segment().storedBytes(), memory.fanIn(), forPass.fanIn());
      SegmentFile merged = merge(inputs);
      inputs.subList(1, inputs.size()).clear();
      inputs.set(0, merged);
      listener.passed(merged.segment().records(), segments.size());
    }
  }

  private SegmentFile merge(List<SegmentFile> inputs) throws IOException {
    Merge merge = new Merge(opener.open(inputs, forPass.bufferBytes(inputs), 0), order);
    SegmentFile merged = writer.write(merge, inputs.get(0).segment().partition());
    for (SegmentFile input : inputs) {
      writer.discard(input);
    }
    return merged;
  }
}
