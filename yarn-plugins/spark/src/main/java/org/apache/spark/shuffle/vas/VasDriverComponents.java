package org.apache.spark.shuffle.vas;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/** The driver's part: makes the application's directory, and removes what is not needed any more. */
final class VasDriverComponents implements ShuffleDriverComponents {
  private static final Logger LOG = LoggerFactory.getLogger(VasDriverComponents.class);
  private static final int SECONDS_TO_END = 30;

  private final SparkConf conf;
  private final ExecutorService remover = Executors.newSingleThreadExecutor(work -> {
    Thread thread = new Thread(work, "vas-shuffle");
    thread.setDaemon(true);
    return thread;
  });
  private ShuffleStorage storage;
  private ApplicationFiles files;
  private boolean sweeps;

  VasDriverComponents(SparkConf conf) {
    this.conf = conf;
  }

  @Override
  public Map<String, String> initializeApplication() {
    try {
      storage = ShuffleStorage.of(conf);
      files = storage.makeApplication(conf.getAppId());
    } catch (IOException e) {
      throw new UncheckedIOException(
          "no directory for map output: " + e.getMessage(), e);
    }
    return Map.of(VasSparkConf.APPLICATION, files.named());
  }

  /** Returns true: what an executor wrote outlives it, and its machine. */
  @Override
  public boolean supportsReliableStorage() {
    return true;
  }

  /** Has lost outputs looked for from the first shuffle on: the application has started by then. */
  @Override
  public synchronized void registerShuffle(int shuffle) {
    Option<SparkContext> context = SparkContext$.MODULE$.getActive();
    if (!sweeps && context.isDefined()) {
      sweeps = true;
      context.get().addSparkListener(new LostOutputSweep(
          files, (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker(), remover));
    }
  }

  @Override
  public void removeShuffle(int shuffle, boolean blocking) {
    Future<?> removal = remover.submit(() -> remove(shuffle));
    if (blocking) {
      await(removal);
    }
  }

  // What cannot be removed now goes with the application.
  private void remove(int shuffle) {
    try {
      files.removeShuffle(shuffle);
    } catch (IOException e) {
      LOG.warn("{}: not removed: {}", files.shuffle(shuffle), e.getMessage());
    }
  }

  private static void await(Future<?> removal) {
    try {
      removal.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (java.util.concurrent.ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public void cleanupApplication() {
    remover.shutdown();
    if (files == null) {
      return;
    }
    try {
      if (!remover.awaitTermination(SECONDS_TO_END, TimeUnit.SECONDS)) {
        LOG.warn("A removal has not ended after {} s", SECONDS_TO_END);
      }
      files.removeAll();
      storage.removeIfOfJob();
    } catch (IOException e) {
      LOG.warn("{}: not removed, please remove it: {}", files.named(), e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
