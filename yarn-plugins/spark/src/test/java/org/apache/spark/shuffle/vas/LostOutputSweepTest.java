package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.spark.FetchFailed;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.ShuffleFiles;

/** What the driver looks at, and unregisters, when tasks could not read one map's output. */
class LostOutputSweepTest {
  private static final int MAPS = 4;

  private final Path directory = SparkApps.newDirectory().resolve("shuffle");
  private final Deque<Runnable> begun = new ArrayDeque<>();
  private Runnable afterListing = () -> {};
  private JavaSparkContext context;
  private MapOutputTrackerMaster tracker;
  private Path shuffle;
  private LostOutputSweep sweep;

  @BeforeEach
  void runMaps() throws IOException {
    context = new JavaSparkContext(SparkApps.vas(directory));
    Jobs.pairs(context, 100, 10).groupByKey(3).count();
    tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    shuffle = SparkApps.files(directory, ".index").get(0).getParent();
    String application = shuffle.getParent().toString();
    ShuffleFiles files = new ShuffleFiles(new Listed(), operation -> {});
    sweep = new LostOutputSweep(new ApplicationFiles(files,
        new org.apache.hadoop.fs.Path(application), application, new IndexCache(0)), tracker,
        begun::add);
  }

  @AfterEach
  void stop() {
    context.close();
  }

  /** The machine's files; something happens when they have been listed. */
  private final class Listed extends FilterFileSystem {
    Listed() throws IOException {
      super(FileSystem.getLocal(new Configuration()).getRaw());
    }

    @Override
    public FileStatus[] listStatus(org.apache.hadoop.fs.Path path) throws IOException {
      FileStatus[] listed = super.listStatus(path);
      afterListing.run();
      return listed;
    }
  }

  private ShuffleStatus registered() {
    return tracker.shuffleStatuses().apply(0);
  }

  private MapStatus map(int number) {
    return registered().withMapStatuses(statuses -> statuses[number]);
  }

  private Path index(int number) {
    return shuffle.resolve(PredictableNames.sparkIndex(map(number).mapId()));
  }

  private void taskFails() {
    sweep.onTaskEnd(new SparkListenerTaskEnd(1, 0, "ResultTask", new FetchFailed(
        map(MAPS - 1).location(), 0, map(MAPS - 1).mapId(), MAPS - 1, 0, "the test's"),
        null, null, null));
  }

  @Test
  void manyTasksThatFailAtOnceBeginOneSweep() {
    for (int round = 0; round < 2; round++) {
      for (int task = 0; task < 200; task++) {
        taskFails();
      }
      assertEquals(1, begun.size());
      begun.remove().run();
    }
    assertEquals(MAPS, registered().numAvailableMapOutputs());
  }

  @Test
  void aMapThatRanAgainWhileFilesWereListedIsNotLost() throws IOException {
    MapStatus again = map(0);
    Path index = index(0);
    Path away = Files.move(index, directory.resolveSibling("away"));
    tracker.unregisterMapOutput(0, 0, again.location());
    afterListing = () -> {
      try {
        Files.move(away, index);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      tracker.registerMapOutput(0, 0, again);
    };
    taskFails();
    begun.remove().run();
    assertEquals(MAPS, registered().numAvailableMapOutputs());
  }

  @Test
  void anIndexThatCannotBeOpenedKeepsNoOtherFromBeingLookedAt() throws IOException {
    for (int number = MAPS - 1; number >= 0; number--) {
      Files.delete(index(number));
    }
    Files.createDirectory(index(0));
    taskFails();
    begun.remove().run();
    assertEquals(1, registered().numAvailableMapOutputs());
  }
}
