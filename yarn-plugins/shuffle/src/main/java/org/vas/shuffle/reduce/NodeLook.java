package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.daemon.DaemonLinks;
import org.vas.shuffle.daemon.LookedSegment;
import org.vas.shuffle.daemon.DaemonRefusal;
import org.vas.shuffle.daemon.RefusedException;
import org.vas.shuffle.daemon.SegmentAddress;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.CallWatch;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/**
 * Has the node of a map look at its output: it reads the segment once, and tells its checksums. Of an
 * encrypted one it cannot see whether that is what the map wrote, so this node reads it through.
 */
final class NodeLook implements OutputLook {
  private final DaemonLinks links;
  private final int partition;
  private final Optional<CipherCheck> cipher;
  private final AtomicLong toHold;

  /**
   * Makes the look of one reducer, by the task's links to its node's daemon.
   * @param cipher the check of encrypted segments; empty where the map's node can check IFile's own
   *     checksum
   * @param toHold bytes that may be held for the merge: descriptions of segments, and small
   *     segments
   */
  NodeLook(DaemonLinks links, int partition, Optional<CipherCheck> cipher, long toHold) {
    this.links = links;
    this.partition = partition;
    this.cipher = cipher;
    this.toHold = new AtomicLong(toHold);
  }

  @Override
  public OutputFinding at(TaskAttemptID attempt, String machine, CallWatch watch) {
    SegmentAddress at = new SegmentAddress(machine, attempt, partition);
    try {
      LookedSegment looked =
          links.look(at, toHold.get() > 0, cipher.isEmpty(), () -> watch.calling(at.path()));
      return OutputFinding.intact(
          attempt, new FetchedOutput(segments(at, machine, looked, watch)));
    } catch (RefusedException e) {
      return OutputFinding.failed(attempt, blame(e.refusal()), e);
    } catch (BadOutputException e) {
      return OutputFinding.failed(attempt, OutputDiagnosis.BAD_MAP, e);
    } catch (IOException e) { // the map's node would have refused: this is between here and the daemon
      return OutputFinding.failed(attempt, OutputDiagnosis.THIS_NODE, e);
    } catch (Throwable e) { // an Error too has to reach the one who waits
      return OutputFinding.failed(attempt, OutputDiagnosis.SICK_FILE_SYSTEM, e);
    }
  }

  // As in stock: whatever is wrong on the map's node is cured by running the map elsewhere.
  private static OutputDiagnosis blame(DaemonRefusal refusal) {
    return refusal.isNotTheMaps() ? OutputDiagnosis.THIS_NODE : OutputDiagnosis.BAD_MAP;
  }

  private List<SegmentFile> segments(SegmentAddress at, String machine, LookedSegment looked,
      CallWatch watch) throws IOException {
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
      if (cipher.isPresent()) {
        cipher.get().verify(found.get(0), held, watch);
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
