package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.SharedFileSystem;

/** Checks what reduce attempts that failed leave of their passes. */
@Timeout(120)
class PassesLeftTest {
  private static final int MAPS = 12;

  @TempDir Path dir;
  private ReduceHarness harness;

  @BeforeEach
  void passesAreNeeded() throws IOException {
    harness = new ReduceHarness(dir, MAPS);
    harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 300 << 10);
    for (int map = 0; map < MAPS; map++) {
      harness.map(map, List.of(Rec.random(new Random(map), 9000)));
    }
  }

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  private static TaskAttemptID reduce(int attempt) {
    return new TaskAttemptID("20260101", 1, TaskType.REDUCE, 0, attempt);
  }

  private Path left(int attempt, String... names) throws IOException {
    Path directory = Files.createDirectories(harness.shuffleDir().resolve(reduce(attempt) + ""));
    for (String name : names) {
      Files.writeString(directory.resolve(name), "pass");
    }
    return directory;
  }

  private List<String> reduceDirectories() throws IOException {
    try (var all = Files.list(harness.shuffleDir())) {
      return all.map(each -> each.getFileName().toString()).filter(name -> name.contains("_r_"))
          .sorted().collect(Collectors.toList());
    }
  }

  @Test
  void L2_anAttemptThatFailsInAPassLeavesNone() throws Exception {
    SharedFileSystem.inject((call, path) -> {
      if (call.equals("create") && path.getName().equals("pass-2.mof")) {
        assertTrue(Files.exists(Path.of(path.getParent().toUri().getPath(), "pass-1.mof")));
        throw new IOException("No space left on device");
      }
    });
    IOException e = assertThrows(IOException.class, harness::run);
    assertTrue(e.getMessage().contains("No space left on device"), e::getMessage);
    assertEquals(List.of(), reduceDirectories());
  }

  @Test
  void L2_aRetryRemovesThePassesOfAttemptsThatAreOver() throws Exception {
    left(0, "pass-0.mof", "pass-7.mof");
    Path other = left(1, "pass-0.mof", "notes", "pass-1.mof.txt");
    harness.umbilical.over(reduce(0));
    harness.umbilical.over(reduce(1));
    harness.checkAttempt(2);
    assertEquals(List.of(reduce(1).toString()), reduceDirectories());
    try (var all = Files.list(other)) {
      assertEquals(List.of("notes", "pass-1.mof.txt"), all.map(each -> each.getFileName() + "")
          .sorted().collect(Collectors.toList()), "what is not a pass");
    }
  }

  /** Attempts of one task run at once where the application master speculates. */
  @Test
  void L2_thePassesOfALiveAttemptStay() throws Exception {
    Path live = left(0, "pass-0.mof");
    Path newer = left(3, "pass-0.mof");
    harness.umbilical.over(reduce(3));
    harness.checkAttempt(2);
    assertTrue(Files.exists(live.resolve("pass-0.mof")));
    assertTrue(Files.exists(newer.resolve("pass-0.mof")), "not an older attempt's");
  }

  /** For a minute the application master says yes for what is over. */
  @Test
  void L2_theApplicationMasterIsAskedAgain() throws Exception {
    left(0, "pass-0.mof");
    SharedFileSystem.inject((call, path) -> {
      if (call.equals("create") && path.getName().equals("pass-1.mof")) {
        assertTrue(Files.exists(harness.shuffleDir().resolve(reduce(0) + "/pass-0.mof")));
        harness.umbilical.over(reduce(0));
      }
    });
    harness.checkAttempt(1);
    assertEquals(List.of(), reduceDirectories());
  }

  @Test
  void L2_attemptsUnderAnEarlierMasterAreOlder() throws Exception {
    left(0, "pass-0.mof");
    left(3, "pass-0.mof");
    left(1000, "pass-0.mof");
    for (int attempt : new int[] {0, 3, 1000}) {
      harness.umbilical.over(reduce(attempt));
    }
    harness.checkAttempt(1001);
    assertEquals(List.of(), reduceDirectories());
  }

  @Test
  void L2_aLinkInPlaceOfADirectoryIsNotFollowed() throws Exception {
    Path strangers = Files.createDirectories(dir.resolve("elsewhere"));
    Files.writeString(strangers.resolve("pass-0.mof"), "not ours");
    Path link = harness.shuffleDir().resolve(reduce(0).toString());
    Files.createSymbolicLink(link, strangers);
    harness.umbilical.over(reduce(0));
    harness.checkAttempt(1);
    assertTrue(Files.exists(strangers.resolve("pass-0.mof")));
    assertTrue(Files.exists(link, LinkOption.NOFOLLOW_LINKS));
  }
}
