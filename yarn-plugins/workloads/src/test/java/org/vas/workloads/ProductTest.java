package org.vas.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs every program, codec, encryption and layout, and compares outputs and counters with stock's.
 */
@Tag("long")
class ProductTest {
  @TempDir
  Path directory;

  @BeforeAll
  static void encryptionKey() throws IOException {
    Credentials credentials = new Credentials();
    TokenCache.setEncryptedSpillKey(new byte[16], credentials);
    UserGroupInformation.getCurrentUser().addCredentials(credentials);
  }

  static Stream<Arguments> cases() {
    return StreamSupport.stream(Programs.names().spliterator(), false)
        .flatMap(program -> Stream.of("none", "gzip", "lz4")
            .flatMap(codec -> Stream.of(false, true)
                .map(encrypted -> Arguments.of(program, codec, encrypted))));
  }

  @ParameterizedTest(name = "{0}, {1}, encrypted {2}")
  @MethodSource("cases")
  void sameOutputAndCounters(String program, String codec, boolean encrypted) throws Exception {
    check(own -> {
      JobConf job = Programs.job(program, own);
      if (!codec.equals("none")) {
        job.setMapOutputCompressorClass(
            Map.of("gzip", GzipCodec.class, "lz4", Lz4Codec.class).get(codec));
      }
      job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, encrypted);
      return job;
    });
  }

  @Test
  void fiveHundredReducers() throws Exception {
    check(Programs::fiveHundredReducers);
  }

  private void check(Programs.Program program) throws Exception {
    Path own = directory.resolve("stock");
    Ran stock = OneProcess.run(program.job(own), own, true);
    for (String layout : new String[] {"packed", "per-reducer"}) {
      own = directory.resolve(layout);
      JobConf job = program.job(own);
      job.set("vas.shuffle.layout", layout);
      Ran ours = OneProcess.run(job, own, false);
      assertEquals(job.getNumReduceTasks(), ours.output().size());
      assertEquals(stock.output(), ours.output(), layout);
      new Comparison(stock, ours, job).check();
    }
  }
}
