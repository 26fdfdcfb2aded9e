package org.vas.shuffle.mof;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.vas.shuffle.Mutation;

/** Changed bytes of a manifest decode to a manifest, or to one exception, in little memory. */
class ManifestFuzzTest {
  private static final TaskAttemptID ATTEMPT =
      TaskAttemptID.forName("attempt_1700000000000_0001_m_000007_0");
  // Of so many partitions that a reducer reads a record and a block.
  private static final byte[] LARGE = large();

  /** Sealed as a whole only, or every record and block of the index as well. */
  @Property(tries = 5000)
  void sealedNonsenseIsAManifestOrAManifestException(@ForAll("manifests") byte[] manifest,
      @ForAll("mutations") List<Mutation> mutations, @ForAll boolean throughout)
      throws IOException {
    byte[] bytes = sealed(Mutation.apply(body(manifest), mutations), throughout);
    Manifest read;
    try {
      read = ManifestFormat.decode(bytes);
    } catch (ManifestException e) {
      assertTrue(e.getMessage().length() < 5000, "a message of one line");
      return;
    }
    byte[] again = ManifestFormat.encode(read);
    assertArrayEquals(again, ManifestFormat.encode(ManifestFormat.decode(again)));
  }

  @Property(tries = 1000)
  void anyChangeWithoutTheChecksumIsFound(@ForAll("manifests") byte[] manifest,
      @ForAll("mutations") List<Mutation> mutations) throws IOException {
    byte[] bytes = Mutation.apply(manifest, mutations);
    if (!Arrays.equals(bytes, manifest)) {
      assertThrows(ManifestException.class, () -> ManifestFormat.decode(bytes));
    }
  }

  /** What one reducer reads: the right segments, or an exception. A change elsewhere may stay. */
  @Property(tries = 2000)
  void P1_noChangeWithoutTheChecksumIsTakenForAPart(@ForAll("manifests") byte[] small,
      @ForAll @IntRange(max = 299) int partition, @ForAll boolean large,
      @ForAll("mutations") List<Mutation> mutations) throws IOException {
    byte[] manifest = large ? LARGE : small;
    int partitions = ManifestFormat.decode(manifest).partitions();
    byte[] bytes = Mutation.apply(manifest, mutations);
    String part;
    try {
      part = part(bytes, partitions, partition % partitions);
    } catch (ManifestException e) {
      return;
    }
    assertEquals(part(manifest, partitions, partition % partitions), part);
  }

  @Property(tries = 3000)
  void P1_sealedNonsenseIsAPartOrAManifestException(@ForAll("manifests") byte[] small,
      @ForAll @IntRange(max = 299) int partition, @ForAll boolean large,
      @ForAll("mutations") List<Mutation> mutations) throws IOException {
    byte[] manifest = large ? LARGE : small;
    int partitions = ManifestFormat.decode(manifest).partitions();
    byte[] bytes = sealed(Mutation.apply(body(manifest), mutations), true);
    try {
      part(bytes, partitions, partition % partitions);
    } catch (ManifestException | ManifestTooLargeException e) {
      assertTrue(e.getMessage().length() < 5000, "a message of one line");
    }
  }

  private static String part(byte[] bytes, int partitions, int partition) throws IOException {
    Manifest part =
        PartitionReadTest.read(new CountedInput(bytes), partitions, partition, 1 << 20);
    return part.attempt() + part.partitions() + part.compressed() + part.encrypted()
        + part.segments().stream()
            .map(each -> part.files().get(each.file()).name()
                + part.files().get(each.file()).length() + ManifestVectors.json(each)
                    .replaceFirst("\"file\": [0-9]+", ""))
            .collect(Collectors.joining());
  }

  @Property(tries = 300)
  void aReaderNamesThePathOfWhatItRefuses(@ForAll("manifests") byte[] manifest,
      @ForAll("mutations") List<Mutation> mutations) throws IOException {
    Path job = Files.createTempDirectory("job");
    Path directory = Files.createDirectories(job.resolve("shuffle").resolve(ATTEMPT.toString()));
    Path file = directory.resolve(ShuffleDirs.MANIFEST);
    Configuration conf = new Configuration(false);
    conf.set(MRJobConfig.MAPREDUCE_JOB_DIR, "file://" + job);
    ManifestReader reader = new ManifestReader(FileSystem.getLocal(conf).getRaw(),
        new ShuffleDirs(conf), new JobFormat(3, false, false), 1 << 20);
    Files.write(file, sealed(Mutation.apply(body(manifest), mutations), true));
    try {
      reader.segments(ATTEMPT, 0, path -> {});
    } catch (FileNotFoundException e) {
      // The MOFs that a manifest names: here are none.
      assertTrue(e.getMessage().contains(directory.toString()), e::getMessage);
    } catch (BadOutputException e) {
      assertTrue(e.getMessage().contains(directory.toString()), e::getMessage);
    } finally {
      Files.delete(file);
      Files.delete(directory);
      Files.delete(directory.getParent());
      Files.delete(job);
    }
  }

  private static byte[] large() {
    try {
      return ManifestFormat.encode(PartitionReadTest.map(60, 2, 140_000, false));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Provide
  Arbitrary<byte[]> manifests() throws IOException {
    List<byte[]> good = new ArrayList<>();
    for (Manifest each : ManifestVectors.good().values()) {
      good.add(ManifestFormat.encode(each));
      good.add(ManifestV1Bytes.encode(each));
    }
    return Arbitraries.of(good);
  }

  @Provide
  Arbitrary<List<Mutation>> mutations() {
    return Mutation.some();
  }

  private static byte[] body(byte[] manifest) {
    return Arrays.copyOf(manifest, manifest.length - Integer.BYTES);
  }

  private static byte[] sealed(byte[] body, boolean throughout) {
    byte[] bytes = Arrays.copyOf(body, body.length + Integer.BYTES);
    return throughout ? SealedBytes.sealedThroughout(bytes) : SealedBytes.sealed(bytes);
  }
}
