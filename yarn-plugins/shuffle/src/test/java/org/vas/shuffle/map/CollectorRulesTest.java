package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.stream.Collectors;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CollectorRulesTest {
  private static final String COLLECTORS = "mapreduce.job.map.output.collector.class";

  @TempDir
  Path directory;
  private JobConf job;

  @BeforeEach
  void makeJob() throws IOException {
    job = MapRun.job(directory);
  }

  /** An exception would make MapTask take stock's collector, and the job's outputs two formats. */
  @Test
  void refusesAListOfCollectors() {
    job.set(COLLECTORS, LustreCollector.class.getName() + ","
        + MapTask.MapOutputBuffer.class.getName());
    Error e = assertThrows(ServiceConfigurationError.class, () -> run(job));
    assertTrue(e.getMessage().startsWith(COLLECTORS + " lists 2 classes; name "), e::getMessage);
  }

  @Test
  void refusesAJobWhoseReducersWouldFetch() {
    job.unset("mapreduce.job.reduce.shuffle.consumer.plugin.class");
    assertFailure("mapreduce.job.reduce.shuffle.consumer.plugin.class is not set; set it to"
        + " org.vas.shuffle.reduce.LustreMerge alone");
  }

  @Test
  void neverMakesTheJobsDirectory() throws Exception {
    Path staging = directory.resolve("staging");
    Files.delete(staging);
    assertFailure("the job's staging directory is gone");
    assertFalse(Files.exists(staging));
  }

  @Test
  void refusesALocalStagingDirectory() throws Exception {
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, "file:" + directory.resolve("staging"));
    assertFailure("put yarn.app.mapreduce.am.staging-dir on Lustre");
    job.setBoolean("vas.shuffle.local-staging", true);
    run(job);
    assertEquals(1, WrittenOutput.manifest(job).segments().size());
  }

  @Test
  void refusesAnImpossibleBuffer() {
    job.setInt(MRJobConfig.IO_SORT_MB, 2048);
    assertFailure("Invalid \"mapreduce.task.io.sort.mb\": 2048; use 1 to 2047");
  }

  @Test
  void refusesAnUnknownLayout() {
    job.set("vas.shuffle.layout", "scattered");
    assertFailure(
        "vas.shuffle.layout: 'scattered' is not a layout; use packed, per-reducer or auto");
  }

  @Test
  void directoriesAndFilesAreTheUsers() throws Exception {
    run(job);
    Path attempt = MapRun.directory(job);
    for (Path path : new Path[] {attempt, attempt.getParent()}) {
      assertEquals("rwx------",
          PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
    }
    assertEquals("rw-------", PosixFilePermissions.toString(
        Files.getPosixFilePermissions(attempt.resolve("manifest"))));
  }

  @ParameterizedTest
  @CsvSource({"mapreduce.framework.name, local", "mapreduce.task.uberized, true"})
  void localReducersGetStocksFiles(String key, String value) throws Exception {
    job.set(key, value);
    MapRun run = run(job);
    assertEquals(1, WrittenOutput.stock(run.job(), 0).size());
    assertFalse(Files.exists(MapRun.directory(job)));
  }

  /** With whatever else: the reducers of this job take stock's outputs only. */
  @ParameterizedTest
  @CsvSource({"org.vas.shuffle.reduce.LustreMerge", "org.apache.hadoop.mapreduce.task.reduce.Shuffle"})
  void aJobThatIsSwitchedOffGetsStocksFiles(String consumer) throws Exception {
    job.setBoolean("vas.shuffle.enabled", false);
    job.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, consumer);
    MapRun run = run(job);
    assertEquals(1, WrittenOutput.stock(run.job(), 0).size());
    assertFalse(Files.exists(MapRun.directory(job).getParent()));
  }

  @Test
  void refusesASwitchThatIsNeither() {
    job.set("vas.shuffle.enabled", "no");
    assertFailure("vas.shuffle.enabled: 'no' is not a valid boolean; use true or false");
  }

  @Test
  void anUnsetFrameworkIsTheLocalOne() {
    job.unset(MRConfig.FRAMEWORK_NAME);
    assertTrue(CollectorRules.whyStock(job).contains("local"));
  }

  @ParameterizedTest
  @CsvSource({
    "auto, 128m, 4, 8, false", "auto, 128m, 5, 8, true", "auto, 1g, 30, 100, false",
    "auto, 1g, 30, 1000, true", "packed, 1g, 1, 1, true", "per-reducer, 1m, 100, 1, false"})
  void layoutsOfJobs(String layout, String blockSize, int reducers, int maps, boolean packed)
      throws Exception {
    job.set("vas.shuffle.layout", layout);
    job.set("vas.lustre.block-size", blockSize);
    job.setNumReduceTasks(reducers);
    job.setNumMapTasks(maps);
    assertEquals(packed, MofPolicy.of(job).isPacked());
  }

  @ParameterizedTest
  @CsvSource({
    "auto, 1k, true", "auto, 127m, true", "auto, 128m, false", "per-reducer, 1k, false",
    "packed, 1g, true"})
  void R4_aMapWithLittleOutputMakesOneFile(String layout, String bytes, boolean packed)
      throws Exception {
    job.set("vas.shuffle.layout", layout);
    job.set("vas.lustre.block-size", "128m");
    job.set("output", bytes);
    job.setNumReduceTasks(4);
    job.setNumMapTasks(8);
    MofPolicy policy = MofPolicy.of(job);
    assertEquals(packed, policy.ofOutput(job, job.getLongBytes("output", 0)).isPacked());
  }

  @Test
  void R4_aTinyJobOnAutoPublishesOneFileOfAllPartitions() throws Exception {
    job.setNumReduceTasks(3);
    MapRun.of(job, output -> {
      for (String key : new String[] {"a", "b", "c", "d", "e", "f"}) {
        output.emit(new Text(key), new IntWritable(1));
      }
    });
    try (var files = Files.list(MapRun.directory(job))) {
      assertEquals(List.of("manifest", "packed.mof"),
          files.map(file -> file.getFileName().toString()).sorted().collect(Collectors.toList()));
    }
  }

  private void assertFailure(String message) {
    IOException e = assertThrows(IOException.class, () -> run(job));
    assertTrue(e.getMessage().contains(message), e::getMessage);
  }

  private static MapRun run(JobConf job) throws Exception {
    return MapRun.of(job, output -> output.emit(new Text("a"), new IntWritable(1)));
  }
}
