package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs a reducer of a job with 5,000 maps of one record each, all with files of their own. */
@Tag("long")
@Timeout(300)
class ManyMapsTest {
  private static final int MAPS = 5_000;
  private static final int KEYS = 7;

  @TempDir Path dir;

  /** Right is: each record once, the keys in order, equal keys in the order of maps. */
  @Test
  void aRecordOfEachOfFiveThousandMapsIsMergedOnce() throws Exception {
    ReduceHarness harness = new ReduceHarness(dir, MAPS);
    for (int map = 0; map < MAPS; map++) {
      Text key = new Text("key " + map % KEYS);
      harness.map(map, List.of(List.of(new Rec(key, new Text("value " + map)))));
    }
    harness.check();
    assertEquals(MAPS, harness.counter(TaskCounter.REDUCE_INPUT_RECORDS));
    assertEquals(KEYS, harness.counter(TaskCounter.REDUCE_INPUT_GROUPS));
    assertEquals(MAPS, harness.counter(TaskCounter.SHUFFLED_MAPS));
  }
}
