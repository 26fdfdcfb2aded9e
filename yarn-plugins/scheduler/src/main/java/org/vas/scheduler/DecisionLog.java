package org.vas.scheduler;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.scheduler.policy.PlacementEvent;

/**
 * Writes one line per decision, key=value, to the logger {@code vas.placement} and to the
 * application's own file: see docs/placement.md. Each of the two has a thread, so that neither a
 * slow disk nor a file system that hangs holds a heartbeat or the other. Of more than {@value
 * BoundedWriter#LONGEST_QUEUE} lines that wait, further ones are counted and left out.
 */
final class DecisionLog {
  private static final String NAME = "vas.placement";
  private static final Logger LOG = LoggerFactory.getLogger(NAME);

  private final BoundedWriter logger;
  private final BoundedWriter filer;
  private final Optional<DecisionFiles> files;
  private final Function<ApplicationId, String> userOf;

  /**
   * Makes a log; its threads start with the first line.
   *
   * @param directory the directory of the applications' own files; empty for none
   * @param userOf returns an application's owner; null where it is not known any more
   * @param leftOut is run for each line that is left out
   */
  DecisionLog(
      Optional<Path> directory, Function<ApplicationId, String> userOf, Runnable leftOut) {
    logger = new BoundedWriter("vas-placement-log", leftOut);
    filer = new BoundedWriter("vas-placement-files", leftOut);
    files = directory.map(path -> new DecisionFiles(path, leftOut));
    this.userOf = userOf;
  }

  void decided(ApplicationId app, PlacementEvent event) {
    write(app, () -> String.format("event=%s app=%s key=%s host=%s waited_ms=%d cause=%s",
        event.type(), app, event.key(), event.host(), event.waitedMillis(), event.cause()));
  }

  void granted(ApplicationId app, ContainerId container, PlacementEvent event) {
    write(app, () -> String.format(
        "event=%s app=%s key=%s host=%s node=%s locality=%s waited_ms=%d cause=%s container=%s",
        event.type(), app, event.key(), event.host(), event.node(), event.locality(),
        event.waitedMillis(), event.cause(), container));
  }

  /** Closes the file of an application that is over. */
  void over(ApplicationId app) {
    files.ifPresent(each -> filer.run(() -> each.forget(app)));
  }

  private void write(ApplicationId app, Supplier<String> line) {
    if (LOG.isInfoEnabled()) {
      logger.run(() -> LOG.info("{}", line.get()));
    }
    files.ifPresent(each -> filer.run(() -> each.write(
        app, userOf.apply(app), Instant.now() + " " + NAME + ": " + line.get())));
  }

  /** Waits until all lines so far are written; for tests. */
  void drain() throws InterruptedException {
    logger.drain();
    filer.drain();
  }
}
