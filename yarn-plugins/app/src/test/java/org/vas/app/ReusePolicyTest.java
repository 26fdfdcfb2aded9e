package org.vas.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReusePolicyTest {
  private final Configuration job = new Configuration(false);

  private Optional<String> refusal() throws IOException {
    return ReusePolicy.refusal(job, installed(job));
  }

  private static InstalledClasses installed(Configuration conf) throws IOException {
    return new InstalledClasses(List.of(), Path.of("/nonexistent"), conf);
  }

  @Test
  void autoTakesHadoopsClassesAndOurs() throws IOException {
    job.set("mapreduce.job.map.class", "org.apache.hadoop.examples.terasort.TeraGen$SortGenMapper");
    job.set("mapreduce.job.map.output.collector.class", "org.vas.shuffle.map.LustreCollector");
    assertEquals(Optional.empty(), refusal());
  }

  @ParameterizedTest
  @ValueSource(strings = {"mapreduce.job.map.class", "mapreduce.job.reduce.class",
      "mapreduce.job.combine.class", "mapreduce.job.partitioner.class",
      "mapreduce.job.inputformat.class", "mapreduce.job.outputformat.class",
      "mapreduce.map.output.key.class", "mapreduce.job.output.value.class",
      "mapreduce.job.output.key.comparator.class",
      "mapreduce.job.output.group.comparator.class", "mapred.mapper.class",
      "mapred.reducer.class", "mapred.output.committer.class", "mapreduce.map.output.compress.codec",
      "mapreduce.chain.mapper.mapper.class.0",
      "mapreduce.mapper.multithreadedmapper.mapclass"})
  void autoRefusesAClassOfTheJob(String key) throws IOException {
    job.set(key, "org.example.Counts");
    String reason = refusal().orElseThrow();
    assertTrue(reason.contains(key) && reason.contains("org.example.Counts"), reason);
    job.set("vas.containers.reuse", "on");
    assertEquals(Optional.empty(), refusal());
  }

  @ParameterizedTest
  @ValueSource(strings = {"io.serializations", "io.compression.codecs"})
  void autoRefusesAClassAmongOthers(String key) throws IOException {
    job.set(key, "org.apache.hadoop.io.serializer.WritableSerialization, org.example.Mine");
    assertTrue(refusal().orElseThrow().contains("org.example.Mine"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mapreduce.job.map.class", "mapreduce.chain.mapper.mapper.class.0",
      "mapred.reducer.class", "io.compression.codecs", "io.serializations"})
  void autoRefusesAClassWithoutAPackage(String key) throws IOException {
    job.set(key, "WordCount$Mapper");
    assertTrue(refusal().orElseThrow().contains("WordCount$Mapper"));
    job.set(key, "org.apache.hadoop.io.Text,Mine");
    assertTrue(refusal().orElseThrow().contains(" Mine,"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"org.apache.hadoop.hive.ql.exec.mr.ExecMapper",
      "org.apache.hadoop.hbase.mapreduce.Import$Importer", "org.apache.hadoopx.io.Text",
      "org.vastly.Mine"})
  void autoRefusesOthersWhosePackageBeginsAsHadoops(String name) throws IOException {
    job.set("mapreduce.job.map.class", name);
    assertTrue(refusal().orElseThrow().contains(name));
  }

  @ParameterizedTest
  @CsvSource({"mapreduce.input.multipleinputs.dir.formats, /in/a;org.example.Mine",
      "mapreduce.multipleoutputs.namedOutput.side.format, org.example.Mine",
      "mapreduce.aggregate.descriptor.0, 'UserDefined,org.example.Mine'",
      "mapreduce.join.expr, 'inner(tbl(org.example.Mine,\"/in\"))'"})
  void autoRefusesAClassInTheSettingsOfHadoopsLibraries(String key, String value) throws IOException {
    job.set(key, value);
    assertTrue(refusal().orElseThrow().contains("org.example.Mine"));
  }

  @Test
  void autoRefusesAMapperWithoutAPackageOfOneOfSeveralInputs() throws IOException {
    job.set("mapreduce.input.multipleinputs.dir.mappers", "/in/a;Mine,/in/b;Other");
    assertTrue(refusal().orElseThrow().contains(" Mine,"));
  }

  @Test
  void autoRefusesAMapperOfOneOfSeveralInputs() throws IOException {
    job.set("mapreduce.input.multipleinputs.dir.mappers", "/in/a;org.example.Mine");
    assertTrue(refusal().orElseThrow().contains("org.example.Mine"));
  }

  @Test
  void autoTakesTheDefaultsOfHadoop() throws IOException {
    assertEquals(Optional.empty(), ReusePolicy.refusal(new JobConf(), installed(new JobConf())));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mapreduce.job.ubertask.enable", "mapreduce.job.classloader",
      "mapreduce.job.encrypted-intermediate-data", "mapreduce.task.profile"})
  void whatCannotBeDoneIsRefusedEvenWhenOn(String key) throws IOException {
    job.set("vas.containers.reuse", "on");
    job.setBoolean(key, true);
    assertTrue(refusal().orElseThrow().contains(key));
  }

  @Test
  void aHadoopThatIsNotKnownIsSaid() {
    assertEquals(Optional.empty(), ReusePolicy.unknownHadoop("3.5.0"));
    for (String other : List.of("3.4.2", "3.50.0", "4.0.0", "Unknown")) {
      assertTrue(ReusePolicy.unknownHadoop(other).orElseThrow().startsWith("Hadoop " + other));
    }
    assertEquals(Optional.empty(), ReusePolicy.unknownHadoop(VersionInfo.getVersion()));
  }

  @Test
  void offIsSaid() throws IOException {
    job.set("vas.containers.reuse", "off");
    assertEquals(Optional.of("vas.containers.reuse is off"), refusal());
  }

  @Test
  void reducesFitMapsOnlyWithTheSameOptionsAndResources() {
    job.set("mapreduce.map.java.opts", "-Xmx400m");
    assertFalse(ReusePolicy.reducesFitMaps(job));
    job.set("mapreduce.reduce.java.opts", "-Xmx400m");
    assertTrue(ReusePolicy.reducesFitMaps(job));
    job.set("mapreduce.reduce.env.LD_LIBRARY_PATH", "/opt/lib");
    assertFalse(ReusePolicy.reducesFitMaps(job));
  }
}
