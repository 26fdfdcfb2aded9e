package org.vas.shuffle.mof;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.vas.shuffle.Mutation;

/** Bytes that were a manifest once: a manifest, or one exception, in little memory. */
class ManifestFuzzTest {
  private static final TaskAttemptID ATTEMPT =
      TaskAttemptID.forName("attempt_1700000000000_0001_m_000007_0");

  @Property(tries = 3000)
  void sealedNonsenseIsAManifestOrAManifestException(@ForAll("manifests") byte[] manifest,
      @ForAll("mutations") List<Mutation> mutations) throws IOException {
    byte[] bytes = sealed(Mutation.apply(body(manifest), mutations));
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

  @Property(tries = 300)
  void aReaderNamesThePathOfWhatItRefuses(@ForAll("manifests") byte[] manifest,
      @ForAll("mutations") List<Mutation> mutations) throws IOException {
    Path job = Files.createTempDirectory("job");
    Path directory = Files.createDirectories(job.resolve("shuffle").resolve(ATTEMPT.toString()));
    Path file = directory.resolve(ShuffleDirs.MANIFEST);
    Configuration conf = new Configuration(false);
    conf.set(MRJobConfig.MAPREDUCE_JOB_DIR, "file://" + job);
    ManifestReader reader = new ManifestReader(FileSystem.getLocal(conf).getRaw(),
        new ShuffleDirs(conf), new JobFormat(3, false, false));
    Files.write(file, sealed(Mutation.apply(body(manifest), mutations)));
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

  @Provide
  Arbitrary<byte[]> manifests() throws IOException {
    List<byte[]> good = new ArrayList<>();
    for (Manifest each : ManifestVectors.good().values()) {
      good.add(ManifestFormat.encode(each));
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

  private static byte[] sealed(byte[] body) {
    CRC32C crc = new CRC32C();
    crc.update(body, 0, body.length);
    return ByteBuffer.allocate(body.length + Integer.BYTES)
        .put(body).putInt((int) crc.getValue()).array();
  }
}
