package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.crypto.CryptoCodec;
import org.apache.hadoop.crypto.JceAesCtrCryptoCodec;
import org.apache.hadoop.forged.ForgedComparator;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.serializer.Serialization;
import org.apache.hadoop.io.serializer.WritableSerialization;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Code of the job runs in the thread of reduce(), unless the job says otherwise. */
@Timeout(120)
class MergeThreadTest {
  private static final int MAPS = 6;
  private static final int RECORDS = 3_000;

  @TempDir Path dir;
  private ReduceHarness harness;

  @BeforeEach
  void manyMaps() throws Exception {
    harness = new ReduceHarness(dir, MAPS);
    JobCode.threads();
  }

  @ParameterizedTest
  @CsvSource({"readFields, false, false", "readFields, true, true", "compareTo, true, false",
      "compareTo, false, true", "raw, false, false", "raw, true, false", "grouping, false, false",
      "grouping, true, true", "serialization, true, false", "serialization, false, true",
      "codec, true, false", "codec, false, true"})
  void W1_codeOfTheJobRunsInTheThreadOfReduce(String kind, boolean newApi, boolean passes)
      throws Exception {
    if (newApi) {
      harness.newApi();
    }
    if (passes) {
      harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 200 << 10);
    }
    write(key(kind));
    List<String> stock = harness.stockKeys();
    JobCode.threads();
    List<String> groups = harness.run();
    assertEquals(Set.of(Thread.currentThread()), JobCode.threads());
    assertEquals(harness.expected(), groups);
    if (!kind.equals("grouping")) {
      assertEquals(stock, keys(groups));
    }
    assertEquals(passes, harness.counter("PASSES") > 0);
  }

  private Function<String, Hostile.ReadKey> key(String kind) {
    JobConf job = harness.job;
    job.setMapOutputKeyClass(Hostile.ReadKey.class);
    switch (kind) {
      case "compareTo":
        job.setMapOutputKeyClass(Hostile.CompareKey.class);
        return word -> new Hostile.CompareKey().set(word);
      case "grouping":
        job.setOutputValueGroupingComparator(Hostile.Grouping.class);
        job.setOutputKeyComparatorClass(Hostile.Raw.class);
        break;
      case "raw":
        job.setOutputKeyComparatorClass(Hostile.Raw.class);
        break;
      case "serialization":
        job.setMapOutputKeyClass(Hostile.SerializedKey.class);
        job.setStrings("io.serializations", Hostile.ScratchSerialization.class.getName(),
            WritableSerialization.class.getName());
        job.setOutputKeyComparatorClass(Hostile.SerializedOrder.class);
        return word -> new Hostile.SerializedKey().set(word);
      case "codec":
        job.setCompressMapOutput(true);
        job.setMapOutputCompressorClass(Hostile.ScratchCodec.class);
        break;
      default:
        break;
    }
    return word -> new Hostile.ReadKey().set(word);
  }

  private void write(Function<String, Hostile.ReadKey> key) throws Exception {
    Random random = new Random(3);
    for (int map = 0; map < MAPS; map++) {
      List<Rec> records = new ArrayList<>();
      for (int i = 0; i < RECORDS; i++) {
        String word = Integer.toString(1000 + random.nextInt(50_000), 36);
        records.add(new Rec(key.apply(word), new Text(map + "." + i)));
      }
      harness.map(map, List.of(records));
    }
  }

  private static List<String> keys(List<String> groups) {
    return groups.stream().flatMap(group -> List.of(group.split(";")).stream())
        .map(record -> record.substring(0, record.indexOf('='))).collect(Collectors.toList());
  }

  @ParameterizedTest
  @ValueSource(classes = {Text.class, IntWritable.class, LongWritable.class, DoubleWritable.class,
      VIntWritable.class})
  void W1_hadoopsOwnKeysAreMergedInAThreadOfTheirOwn(Class<?> key) throws Exception {
    harness.job.setMapOutputKeyClass(key);
    assertEquals("", why(false));
    assertEquals("", why(true));
    harness.job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, true);
    assertEquals("", why(true));
    harness.job.set("vas.shuffle.merge-thread", "off");
    assertEquals("vas.shuffle.merge-thread is off", why(false));
  }

  private String why(boolean compressed) throws Exception {
    return new MergeThread(harness.job, compressed ? new GzipCodec() : null)
        .whyInReduce().orElse("");
  }

  @Test
  void W1_aJobSaysThatItsClassesAreSafe() throws Exception {
    key("raw");
    assertTrue(why(false).startsWith("the comparator " + Hostile.Raw.class.getName()));
    harness.job.set("vas.shuffle.merge-thread", "on");
    assertEquals("", why(false));
    harness.job.set("vas.shuffle.merge-thread", "perhaps");
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> why(false));
    assertEquals("vas.shuffle.merge-thread: 'perhaps' is not a valid word; use auto, on, off",
        e.getMessage());
  }

  @Test
  void W1_aClassOfHadoopsNameIsNotHadoopsOwn() throws Exception {
    harness.job.setOutputKeyComparatorClass(ForgedComparator.class);
    assertTrue(why(false).startsWith("the comparator " + ForgedComparator.class.getName()
        + " is not Hadoop's own"), () -> "it is taken for Hadoop's");
  }

  @Test
  void W1_aCodecOfTheJobIsSeenWithAnyKey() throws Exception {
    assertFalse(new MergeThread(harness.job, new Hostile.ScratchCodec()).whyInReduce().isEmpty());
  }

  /** A key class of Hadoop's says nothing of who reads it. */
  @Test
  void W1_aSerializationOfTheJobIsSeenWithHadoopsKeys() throws Exception {
    harness.job.setMapOutputKeyClass(DoubleWritable.class);
    harness.job.setClass("io.serializations", OwnSerialization.class, Serialization.class);
    assertTrue(why(false).startsWith("the serialization " + OwnSerialization.class.getName()));
  }

  /** A serialization of a job, which reads as Hadoop's does. */
  public static class OwnSerialization extends WritableSerialization {}

  @Test
  void W1_aCipherOfTheJobIsSeenWithAnyKey() throws Exception {
    harness.job.setClass("hadoop.security.crypto.codec.classes.aes.ctr.nopadding",
        OwnCipher.class, CryptoCodec.class);
    assertEquals("", why(false));
    harness.job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, true);
    assertTrue(why(false).startsWith("the cipher " + OwnCipher.class.getName()), () -> "not seen");
  }

  /** A cipher of a job, which encrypts as Hadoop's does. */
  public static class OwnCipher extends JceAesCtrCryptoCodec {}
}
