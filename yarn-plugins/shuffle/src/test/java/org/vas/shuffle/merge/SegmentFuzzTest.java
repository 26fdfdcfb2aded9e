package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.vas.shuffle.Mutation;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.order.KeyOrder;

/** Reads segments whose stored bytes were changed, in each way that they can be stored. */
class SegmentFuzzTest {
  private static final int RECORDS = 3000;
  private static final Map<String, Stored> STORED = new HashMap<>();

  /** A good segment, and how to read it. */
  private static final class Stored {
    private final JobConf job;
    private final byte[] bytes;
    private final Segment segment;
    private final List<Integer> records;

    private Stored(String way) throws Exception {
      job = job(way);
      java.nio.file.Path file = Files.createTempFile("segment", ".mof");
      segment = write(job, file);
      bytes = Files.readAllBytes(file);
      Files.delete(file);
      records = read(job, bytes, segment);
    }
  }

  private static Stored stored(String way) throws Exception {
    if (!STORED.containsKey(way)) {
      STORED.put(way, new Stored(way));
    }
    return STORED.get(way);
  }

  private static JobConf job(String way) throws IOException {
    JobConf job = new JobConf(false);
    job.setOutputKeyComparatorClass(MergeTest.Unknown.class);
    if (!way.startsWith("plain")) {
      job.setCompressMapOutput(true);
      job.set(MRJobConfig.MAP_OUTPUT_COMPRESS_CODEC,
          "org.apache.hadoop.io.compress." + way.replace(" encrypted", ""));
    }
    if (way.endsWith(" encrypted")) {
      job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, true);
      Credentials credentials = new Credentials();
      TokenCache.setEncryptedSpillKey(new byte[16], credentials);
      UserGroupInformation.getCurrentUser().addCredentials(credentials);
    }
    return job;
  }

  private static Segment write(JobConf job, java.nio.file.Path file) throws IOException {
    Random random = new Random(1);
    FileSystem fs = FileSystem.getLocal(job).getRaw();
    try (MofOutput mof = new MofOutput("x.mof", 0, fs.create(new Path(file.toUri()), true))) {
      SegmentWriter writer = new SegmentWriter(job);
      writer.open(mof);
      for (int i = 0; i < RECORDS; i++) {
        byte[] key = ("key" + i).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        byte[] value = new byte[random.nextInt(100)];
        random.nextBytes(value);
        writer.append(key, 0, key.length, value, 0, value.length);
      }
      return writer.close(0, 0);
    }
  }

  /** The hash of each record that reduce() would get; more than can be is the test's own error. */
  private static List<Integer> read(JobConf job, byte[] bytes, Segment segment) throws IOException {
    java.nio.file.Path file = Files.createTempFile("segment", ".mof");
    try (ReadPool pool = new ReadPool(Duration.ofMinutes(5))) {
      Files.write(file, bytes);
      List<SegmentFile> source = List.of(new SegmentFile(new Path(file.toUri()), segment));
      Merge merge = new Merge(new SegmentOpener(FileSystem.getLocal(job).getRaw(), job,
          SegmentWriter.codec(job), pool, ReadMeter.NONE, () -> {}).open(source, 64 << 10, 0),
          KeyOrder.of(job));
      BatchedRecords input = new BatchedRecords(
          merge, Conservation.of(source), OrderCheck.none(),
          new MemoryPlan(1 << 20, 64 << 10, 0), () -> {});
      try {
        return drained(input);
      } finally {
        input.close();
      }
    } finally {
      Files.delete(file);
    }
  }

  private static List<Integer> drained(BatchedRecords input) throws IOException {
    List<Integer> records = new ArrayList<>();
    while (input.next()) {
      records.add(31 * hash(input.getKey()) + hash(input.getValue()));
      assertTrue(records.size() <= RECORDS, "more than were promised");
    }
    return records;
  }

  private static int hash(DataInputBuffer bytes) {
    return Arrays.hashCode(
        Arrays.copyOfRange(bytes.getData(), bytes.getPosition(), bytes.getLength()));
  }

  @Property(tries = 150)
  void anyChangeIsFoundByTheChecksum(@ForAll("ways") String way,
      @ForAll("mutations") List<Mutation> mutations) throws Exception {
    Stored good = stored(way);
    byte[] bytes = Mutation.apply(good.bytes, mutations);
    if (bytes.length >= good.bytes.length
        && Arrays.equals(good.bytes, Arrays.copyOf(bytes, good.bytes.length))) {
      assertEquals(good.records, read(good.job, bytes, good.segment));
      return;
    }
    IOException e =
        assertThrows(IOException.class, () -> read(good.job, bytes, good.segment));
    assertTrue(e.getMessage().contains(".mof partition 0 run 0: "), e::toString);
    assertTrue(causes(e).contains(BadOutputException.class), e::toString);
  }

  /** What a broken writer would leave: checksums that are right, over nonsense. */
  @Property(tries = 200)
  void sealedNonsenseIsTheRightSumOrOneException(@ForAll("ways") String way,
      @ForAll("mutations") List<Mutation> mutations) throws Exception {
    Stored good = stored(way);
    byte[] bytes = Mutation.apply(good.bytes, mutations);
    Segment sealed = new Segment(0, 0, 0, 0, bytes.length, good.segment.rawBytes(),
        good.segment.records(), checksums(bytes));
    List<Integer> records;
    try {
      records = read(good.job, bytes, sealed);
    } catch (IOException e) {
      // Hadoop's LZ4 stream takes as much memory as a length says; only checksums keep it right.
      assertTrue(way.startsWith("Lz4") || !causes(e).contains(OutOfMemoryError.class), e::toString);
      assertTrue(String.valueOf(e.getMessage()).contains(".mof"), e::toString);
      return;
    }
    assertEquals(good.records.size(), records.size());
    if (!way.equals("plain")) {
      assertEquals(good.records, records);
    }
  }

  private static Set<Class<?>> causes(Throwable error) {
    Set<Class<?>> causes = new HashSet<>();
    for (Throwable e = error; e != null; e = e.getCause()) {
      causes.add(e.getClass());
    }
    return causes;
  }

  private static int[] checksums(byte[] bytes) {
    int[] checksums = new int[(int) Segment.checksumsOf(bytes.length)];
    for (int i = 0; i < checksums.length; i++) {
      CRC32C crc = new CRC32C();
      int from = i * Segment.CHECKSUM_BYTES;
      crc.update(bytes, from, Math.min(Segment.CHECKSUM_BYTES, bytes.length - from));
      checksums[i] = (int) crc.getValue();
    }
    return checksums;
  }

  @Provide
  Arbitrary<String> ways() {
    return Arbitraries.of("plain", "GzipCodec", "DefaultCodec", "Lz4Codec", "BZip2Codec",
        "plain encrypted", "GzipCodec encrypted", "Lz4Codec encrypted");
  }

  @Provide
  Arbitrary<List<Mutation>> mutations() {
    return Mutation.some();
  }
}
