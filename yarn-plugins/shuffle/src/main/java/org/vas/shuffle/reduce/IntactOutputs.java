package org.vas.shuffle.reduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.merge.SegmentReads;

/**
 * Waits until every map has an intact output. Outputs are looked at as their maps finish; a bad one
 * is reported until the application master has taken it back.
 */
final class IntactOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(IntactOutputs.class);

  private final EventPoller events;
  private final MapOutcomes<FetchedOutput> outcomes;
  private final OutputLook look;
  private final SegmentReads pool;
  private final LostReports reports;
  private final ReduceCounters counters;
  private final Runnable progress;
  private final BlockingQueue<OutputFinding> findings = new LinkedBlockingQueue<>();
  private final Suspects suspects = new Suspects();

  /**
   * Makes the wait of one reduce attempt.
   *
   * @param progress is called in every wait, and after every map
   */
  IntactOutputs(EventPoller events, MapOutcomes<FetchedOutput> outcomes, OutputLook look,
      SegmentReads pool, LostReports reports, ReduceCounters counters, Runnable progress) {
    this.events = requireNonNull(events, "events");
    this.outcomes = requireNonNull(outcomes, "outcomes");
    this.look = requireNonNull(look, "look");
    this.pool = requireNonNull(pool, "pool");
    this.reports = requireNonNull(reports, "reports");
    this.counters = requireNonNull(counters, "counters");
    this.progress = requireNonNull(progress, "progress");
  }

  /**
   * Returns the outputs to merge, in order of maps.
   *
   * @throws IOException if the file system or this node is sick, or the application master cannot be
   *     asked
   */
  List<FetchedOutput> await() throws IOException, InterruptedException {
    long next = System.nanoTime();
    while (true) {
      long now = System.nanoTime();
      if (now - next >= 0) {
        next = now + TimeUnit.MILLISECONDS.toNanos(events.poll(outcomes));
        reports.tell(outcomes.toReport());
      }
      outcomes.toLookAt().forEach(this::lookAt);
      progress.run();
      if (outcomes.done() == outcomes.maps()) {
        return outcomes.chosen();
      }
      pool.check();
      takeFindings(next - System.nanoTime());
      lookAgainAtSuspects();
    }
  }

  private void lookAt(TaskAttemptID attempt) {
    String machine = events.machineOf(attempt);
    look.begin(attempt, machine, findings::add);
  }

  private void takeFindings(long nanos) throws IOException, InterruptedException {
    long wait = Math.min(nanos, TimeUnit.MILLISECONDS.toNanos(pool.tick()));
    OutputFinding finding = findings.poll(Math.max(0, wait), TimeUnit.NANOSECONDS);
    while (finding != null) {
      take(look.end(finding));
      finding = findings.poll();
    }
  }

  private void take(OutputFinding finding) throws IOException, InterruptedException {
    if (finding.output() != null) {
      suspects.remove(finding.attempt());
      outcomes.intact(finding.attempt(), finding.output());
    } else if (finding.diagnosis() == OutputDiagnosis.BAD_MAP) {
      bad(finding);
    } else if (!outcomes.wants(finding.attempt())) {
      LOG.info("Cannot look at the output of {}, which was taken back", finding.attempt(),
          finding.error());
      outcomes.unknown(finding.attempt());
    } else if (finding.diagnosis() == OutputDiagnosis.ONE_OST && isOneOst(finding)) {
      if (suspects.wasLookedAtAgain(finding.attempt())) {
        bad(finding);
      }
    } else if (finding.diagnosis() == OutputDiagnosis.THIS_NODE) {
      throw new IOException("this node cannot fetch map output, and no map is to blame: "
          + finding.error().getMessage(), finding.error());
    } else if (finding.error() instanceof IOException) {
      throw new IOException("the file system is sick, not the output of " + finding.attempt()
          + ": " + finding.error().getMessage(), finding.error());
    } else {
      throw new IOException("cannot look at the output of " + finding.attempt() + ": "
          + finding.error(), finding.error());
    }
  }

  private void bad(OutputFinding finding) throws IOException, InterruptedException {
    LOG.warn("The output of {} is lost or damaged; reporting it until it is taken back",
        finding.attempt(), finding.error());
    outcomes.bad(finding.attempt());
    counters.validationFailed();
    reports.tell(outcomes.toReport());
  }

  private boolean isOneOst(OutputFinding finding) {
    forgetTakenBack();
    return suspects.add(finding.attempt(), OutputDiagnosis.osts(finding.error()));
  }

  // Another master's events come from the first on: what they bring back is looked at again.
  private void forgetTakenBack() {
    suspects.forgetAllBut(outcomes::wants).forEach(outcomes::unknown);
  }

  // All others could be read: what still cannot, is those outputs, and not the file system.
  private void lookAgainAtSuspects() {
    forgetTakenBack();
    Set<Integer> missing = suspects.maps();
    outcomes.toReport().forEach(attempt -> missing.add(attempt.getTaskID().getId()));
    missing.removeIf(outcomes::isDone);
    if (outcomes.done() == outcomes.maps() - missing.size()) {
      suspects.toLookAtAgain().forEach(outcomes::unknown);
    }
  }
}
