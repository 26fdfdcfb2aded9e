package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.daemon.DaemonReads;
import org.vas.shuffle.daemon.LookedSegment;
import org.vas.shuffle.daemon.RefusedException;
import org.vas.shuffle.daemon.SegmentAddress;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/**
 * Has the node of a map look at its output: that node reads the segment once, and tells its
 * checksums. It cannot see whether an encrypted segment is what the map wrote, so this node reads
 * it through.
 */
final class NodeLook implements OutputLook {
  private final DaemonReads reads;
  private final int partition;
  private final Optional<CipherCheck> cipher;
  private final AtomicLong toHold;

  /**
   * Makes the look of one reducer, by the task's requests to its node's daemon.
   * @param cipher the check of encrypted segments; empty where the map's node can check IFile's own
   *     checksum
   * @param toHold bytes that may be held for the merge: descriptions of segments, and small
   *     segments
   */
  NodeLook(DaemonReads reads, int partition, Optional<CipherCheck> cipher, long toHold) {
    this.reads = reads;
    this.partition = partition;
    this.cipher = cipher;
    this.toHold = new AtomicLong(toHold);
  }

  @Override
  public void begin(TaskAttemptID attempt, String machine, Consumer<OutputFinding> found) {
    SegmentAddress at = new SegmentAddress(machine, attempt, partition);
    reads.look(at, machine, toHold.get() > 0, cipher.isEmpty(), (looked, cause) -> found.accept(
        cause == null ? finding(at, attempt, machine, looked) : failed(attempt, cause)));
  }

  private OutputFinding finding(SegmentAddress at, TaskAttemptID attempt, String machine,
      LookedSegment looked) {
    try {
      return OutputFinding.intact(attempt, new FetchedOutput(segments(at, machine, looked)));
    } catch (Throwable e) { // an Error too has to reach the one who waits
      return failed(attempt, e);
    }
  }

  /**
   * Reads an encrypted segment through, in the thread of the reduce, which waits for nothing else.
   */
  @Override
  public OutputFinding end(OutputFinding finding) {
    if (cipher.isEmpty() || finding.output() == null) {
      return finding;
    }
    try {
      for (SegmentFile each : finding.output().segments()) {
        cipher.get().verify(each);
      }
      return finding;
    } catch (Throwable e) {
      return failed(finding.attempt(), e);
    }
  }

  // As in stock: whatever is wrong on the map's node is cured by running the map elsewhere.
  private static OutputFinding failed(TaskAttemptID attempt, Throwable cause) {
    OutputDiagnosis diagnosis = OutputDiagnosis.SICK_FILE_SYSTEM;
    if (cause instanceof RefusedException) {
      diagnosis = ((RefusedException) cause).refusal().isNotTheMaps()
          ? OutputDiagnosis.THIS_NODE : OutputDiagnosis.BAD_MAP;
    } else if (cause instanceof BadOutputException) {
      diagnosis = OutputDiagnosis.BAD_MAP;
    } else if (cause instanceof IOException) {
      // The map's node would have refused: this is between here and the daemon.
      diagnosis = OutputDiagnosis.THIS_NODE;
    }
    return OutputFinding.failed(attempt, diagnosis, cause);
  }

  private List<SegmentFile> segments(SegmentAddress at, String machine, LookedSegment looked)
      throws IOException {
    List<SegmentFile> found = new ArrayList<>();
    Optional<Segment> segment =
        looked.segment(partition, cipher.map(CipherCheck::padding).orElse(0));
    if (segment.isPresent()) {
      found.add(new SegmentFile(at.path(), segment.get(), machine));
      toHold.addAndGet(-SegmentFile.memory(found));
      byte[] held = looked.held();
      if (!looked.isHeldRight()) {
        throw new BadOutputException(at + ": wrong checksum of the bytes that came");
      }
      if (held.length > 0 && mayHold(held.length)) {
        found.set(0, found.get(0).holding(held));
      }
    }
    return found;
  }

  private boolean mayHold(long bytes) {
    return toHold.getAndUpdate(left -> left >= bytes ? left - bytes : left) >= bytes;
  }
}
