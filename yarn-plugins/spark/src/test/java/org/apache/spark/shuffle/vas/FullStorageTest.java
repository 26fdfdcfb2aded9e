package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/**
 * Map output on a real file system that is full, by bytes or by inodes, or where the user's quota is
 * used up: the job fails by the kernel's word, and the attempt that found no room leaves no file.
 */
@Timeout(180)
class FullStorageTest {
  private static final String MARK = "> ";
  private static final int MAPS = 4;
  private static final int VALUE = 100_000;

  /** A job in a process of its own, whose map output is on a file system of its own. */
  static final class FullStorage {
    private FullStorage() {}

    /**
     * Runs the job; prints its error or "done", then how many files lie there: indexes, data,
     * and indexes that are not whole.
     *
     * @param arguments the parent of the shuffle's directory
     */
    public static void main(String[] arguments) {
      Path directory = Path.of(arguments[0], "shuffle");
      // One map at a time: else another's data may be without its index when the job fails.
      try (JavaSparkContext context =
          new JavaSparkContext(SparkApps.vas(directory).setMaster("local[1]"))) {
        try {
          List<Integer> numbers = Arrays.asList(1, 2, 3, 4, 5, 6, 7, 8);
          long groups = context.parallelize(numbers, MAPS).mapToPair(number -> {
            byte[] value = new byte[VALUE];
            new Random(number).nextBytes(value); // no codec makes it smaller
            return new Tuple2<>(number, value);
          }).groupByKey(2).count();
          System.out.println(MARK + "done " + groups);
        } catch (Exception e) {
          if (!(e instanceof SparkException)) {
            throw e;
          }
          System.out.println(MARK + e.getMessage().replace('\n', ' '));
        }
        for (String suffix : List.of(".index", ".data", ".tmp")) {
          System.out.println(MARK + SparkApps.files(directory, suffix).size());
        }
      }
    }
  }

  private static List<String> onOwnMount(String mount) throws IOException, InterruptedException {
    List<String> unshare = List.of("unshare", "--user", "--map-root-user", "--mount");
    List<String> may = new ArrayList<>(unshare);
    may.add("true");
    assumeTrue(new ProcessBuilder(may).start().waitFor() == 0, "no mounts of one's own");
    Path full = Files.createDirectories(SparkApps.newDirectory().resolve("full"));
    List<String> command = new ArrayList<>(unshare);
    command.addAll(List.of("sh", "-euc",
        "mount -t tmpfs -o \"$1\" tmpfs \"$2\"; shift 2; exec \"$@\"", "sh", mount, full.toString()));
    return run(command, full);
  }

  private static List<String> run(List<String> before, Path parent)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(before);
    command.addAll(LifeTest.command(FullStorage.class, parent.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String all = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), all);
    return all.lines().filter(line -> line.startsWith(MARK))
        .map(line -> line.substring(MARK.length())).collect(Collectors.toList());
  }

  @ParameterizedTest
  @CsvSource({
      "size=100k", // amid the first data
      "size=500k", // of a later map
      "size=64m;nr_inodes=6"}) // for a file: the mount, three directories, and one map's two
  void aJobThatFindsNoRoomFailsByTheKernelsWord(String mount) throws Exception {
    failed("No space left on device", onOwnMount(mount.replace(';', ',')));
  }

  /**
   * Most kernels of test machines have no quota to set. So strace has the kernel answer the calls
   * that write map output as it does where a quota is used up: all from the first of a thread on,
   * from its second, or from its third.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aJobWhoseQuotaIsUsedUpFailsByTheKernelsWord(int from) throws Exception {
    List<String> strace = List.of("strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null",
        "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EDQUOT:when=" + from + "+");
    assumeTrue(canRun(strace), "no strace, or it may trace nothing");
    failed("Disk quota exceeded", run(strace, SparkApps.newDirectory()));
  }

  private static boolean canRun(List<String> strace) throws InterruptedException {
    List<String> command = new ArrayList<>(strace);
    command.add("true");
    try {
      return new ProcessBuilder(command).start().waitFor() == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  private static void failed(String word, List<String> lines) {
    assertEquals(4, lines.size(), lines::toString);
    assertTrue(lines.get(0).contains(word), lines::toString);
    assertTrue(lines.get(0).contains("/shuffle_0/map_"), () -> "it names the file: " + lines);
    assertTrue(Integer.parseInt(lines.get(1)) < MAPS, lines::toString);
    assertEquals(lines.get(1), lines.get(2), () -> "data without an index: " + lines);
    assertEquals("0", lines.get(3), () -> "an index that is not whole: " + lines);
  }

  @ParameterizedTest
  @CsvSource({"size=64m"})
  void aFileSystemWithRoomHasTheOutput(String mount) throws Exception {
    assertEquals(List.of("done 8", "4", "4", "0"), onOwnMount(mount));
  }
}
