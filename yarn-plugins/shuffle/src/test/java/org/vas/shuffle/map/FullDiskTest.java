package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs maps on a real file system that is full: by bytes, in a run or in the merge of runs, or by inodes. */
@Timeout(120)
class FullDiskTest {
  private static final String MARK = "> ";

  @TempDir
  Path directory;

  /** One map in a process of its own, whose local directory is a file system of its own. */
  static final class FullDisk {
    private FullDisk() {}

    /**
     * Runs a map, and prints its error and the files that it leaves.
     *
     * @param arguments the local directory, another one, and the number of records
     */
    public static void main(String[] arguments) throws Exception {
      Path local = Path.of(arguments[0]);
      JobConf job = MapRun.job(Path.of(arguments[1]));
      job.set("mapreduce.job.map.output.collector.class", LocalCollector.class.getName());
      job.unset(MRConfig.SHUFFLE_CONSUMER_PLUGIN);
      job.set(MRConfig.LOCAL_DIR, local.toString());
      job.setInt(MRJobConfig.IO_SORT_MB, 1);
      int records = Integer.parseInt(arguments[2]);
      try {
        MapRun.of(job, Path.of(arguments[1]), MapRun.ATTEMPT, output -> {
          for (int i = 0; i < records; i++) {
            output.emit(new Text("number" + Integer.reverse(i)), new IntWritable(i));
          }
        });
      } catch (IOException | FSError e) {
        // Hadoop gives an FSError where a local disk fails in a write; YARN reports both alike.
        System.out.println(MARK + e.getMessage());
      }
      try (Stream<Path> tree = Files.walk(local)) {
        System.out.println(MARK + tree.filter(Files::isRegularFile)
            .map(file -> file.getFileName().toString()).filter(name -> name.startsWith("file.out"))
            .sorted().collect(Collectors.toList()));
      }
    }
  }

  private List<String> run(String mount, int records) throws IOException, InterruptedException {
    List<String> unshare = List.of("unshare", "--user", "--map-root-user", "--mount");
    List<String> may = new ArrayList<>(unshare);
    may.add("true");
    assumeTrue(new ProcessBuilder(may).start().waitFor() == 0, "no mounts of one's own");
    Path local = Files.createDirectories(directory.resolve("local"));
    Path other = Files.createDirectories(directory.resolve("other"));
    List<String> command = new ArrayList<>(unshare);
    command.addAll(List.of("sh", "-euc", "mount -t tmpfs -o \"$1\" tmpfs \"$2\"; shift 2; exec \"$@\"", "sh",
        mount, local.toString(), Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
        FullDisk.class.getName(), local.toString(), other.toString(), Integer.toString(records)));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String all = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), all);
    return all.lines().filter(line -> line.startsWith(MARK)).map(line -> line.substring(MARK.length()))
        .collect(Collectors.toList());
  }

  @ParameterizedTest
  @CsvSource({
      "size=64k, 20000, output/spill0.out", // the first run
      "size=1500k, 200000, No space left on device", // a later run, amid its write
      "size=8m, 200000, output/spill", // the merge of runs
      "size=64m;nr_inodes=2, 20000, No space left on device"})
  void aFullDiskIsOneErrorAndLeavesNoOutput(String mount, int records, String told) throws Exception {
    List<String> lines = run(mount.replace(';', ','), records);
    assertEquals(2, lines.size(), lines::toString);
    assertTrue(lines.get(0).contains(told), lines::toString);
    assertEquals("[]", lines.get(1));
  }

  @ParameterizedTest
  @CsvSource({"size=64m, 200000"})
  void aDiskWithRoomHasTheOutput(String mount, int records) throws Exception {
    assertEquals(List.of("[file.out, file.out.index]"), run(mount, records));
  }
}
