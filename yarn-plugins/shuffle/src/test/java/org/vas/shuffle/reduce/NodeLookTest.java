package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.IFileOutputStream;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.daemon.DaemonReads;
import org.vas.shuffle.daemon.ModelDaemon;
import org.vas.shuffle.merge.SegmentOpener;
import org.vas.shuffle.mof.ReadMeter;

/**
 * Checks whom a look at an output on another node blames, and what it finds of an encrypted one.
 */
@Timeout(60)
class NodeLookTest {
  private static final TaskAttemptID MAP = new TaskAttemptID("1", 1, TaskType.MAP, 0, 0);

  @TempDir Path dir;
  private final JobConf job = new JobConf();

  @BeforeEach
  void patience() {
    job.set("vas.shuffled.patience", "1s");
  }

  private DaemonReads links() throws IOException {
    return new DaemonReads(job, new JobID("1", 1), ModelDaemon.secret(), () -> {});
  }

  private OutputFinding found(DaemonReads reads) throws Exception {
    FileSystem local = FileSystem.getLocal(job).getRaw();
    CipherCheck.Stored stored = (segment, bytes) ->
        SegmentOpener.stored(local, segment, ReadMeter.NONE, reads, () -> {}, bytes);
    Optional<CipherCheck> cipher = CryptoUtils.isEncryptedSpillEnabled(job)
        ? Optional.of(new CipherCheck(stored, job, ReadMeter.NONE, 256 << 10)) : Optional.empty();
    NodeLook look = new NodeLook(reads, 0, cipher, 1 << 20);
    CompletableFuture<OutputFinding> found = new CompletableFuture<>();
    look.begin(MAP, "node-7", found::complete);
    return look.end(found.get());
  }

  @ParameterizedTest
  @CsvSource({"1, BAD_MAP", "2, BAD_MAP", "3, BAD_MAP", "4, BAD_MAP", "5, BAD_MAP",
      "6, THIS_NODE", "7, THIS_NODE", "8, THIS_NODE"})
  void troubleOfThisNodeCostsNoMap(int refusal, OutputDiagnosis diagnosis) throws Exception {
    try (ModelDaemon daemon = new ModelDaemon(dir, job,
        (number, answers) -> answers.refuse(refusal, "why")); DaemonReads links = links()) {
      OutputFinding finding = found(links);
      assertEquals(diagnosis, finding.diagnosis());
      assertEquals("why", finding.error().getMessage());
      assertTrue(daemon.asked() > 0);
    }
  }

  @Test
  void aDaemonThatIsMissingIsThisNodesTrouble() throws Exception {
    job.set(MRConfig.LOCAL_DIR, dir.resolve("nm/usercache/alice/appcache/application_1_0001").toString());
    try (DaemonReads links = links()) {
      OutputFinding finding = found(links);
      assertEquals(OutputDiagnosis.THIS_NODE, finding.diagnosis());
      assertTrue(finding.error().getMessage().contains("this node's vas-shuffled does not answer"),
          finding.error().getMessage());
    }
  }

  /** A whole reducer: it fails with the reason, reports no map, and ends in bounded time. */
  @Test
  void theReduceAttemptFailsAndNoMapIsReported() throws Exception {
    ReduceHarness harness = nodeMerge();
    harness.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job,
        (number, answers) -> answers.refuse(7, "no other node answers this one"))) {
      Exception e = assertThrows(Exception.class, harness::run);
      assertTrue(e.getMessage().contains("this node cannot fetch map output, and no map is to blame: "
          + "no other node answers this one"), e.getMessage());
      assertTrue(daemon.asked() >= 2);
    }
  }

  private ReduceHarness nodeMerge() throws IOException {
    ReduceHarness harness = new ReduceHarness(dir, 1);
    harness.job.unset("mapreduce.job.map.output.collector.class");
    harness.job.setClass(
        MRConfig.SHUFFLE_CONSUMER_PLUGIN, NodeMerge.class, ShuffleConsumerPlugin.class);
    harness.job.set("vas.shuffled.patience", "1s");
    harness.umbilical.event(ReduceHarness.map(0, 0), Status.SUCCEEDED);
    return harness;
  }

  /** A whole reducer of an encrypted job: what is damaged is reported, and the map's next one merged. */
  @Test
  void aDamagedEncryptedOutputIsMadeAgain() throws Exception {
    setKey();
    ReduceHarness harness = nodeMerge();
    harness.job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, true);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    FSDataOutputStream plain =
        CryptoUtils.wrapIfNecessary(harness.job, new FSDataOutputStream(bytes, null));
    IFile.Writer<Text, Text> writer =
        new IFile.Writer<>(harness.job, plain, Text.class, Text.class, null, null);
    writer.append(new Text("key"), new Text("v".repeat(300_000)));
    writer.close();
    plain.close();
    int raw = (int) writer.getRawLength() + CryptoUtils.cryptoPadding(harness.job);
    byte[] damaged = bytes.toByteArray();
    damaged[200_000] ^= 1;
    AtomicInteger reports = new AtomicInteger();
    harness.umbilical.onReport(attempt -> {
      if (reports.incrementAndGet() == 1) {
        harness.umbilical.event(ReduceHarness.map(0, 0), Status.OBSOLETE);
        harness.umbilical.event(ReduceHarness.map(0, 1), Status.SUCCEEDED);
      }
    });
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, (number, answers) ->
        answers.serve(answers.attempt() == 0 ? damaged : bytes.toByteArray(), raw))) {
      assertEquals(1, harness.run().size());
      assertTrue(reports.get() > 0 && daemon.asked() > 2);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 500_000})
  void anEncryptedOutputIsReadThroughAndItsDamageIsTheMaps(int rawBytes) throws Exception {
    byte[] stored = encrypted(rawBytes);
    int raw = stored.length - 4;
    assertNull(diagnosis(stored, raw));
    for (int at : new int[] {0, 3, 8, 20, 30, stored.length / 2, stored.length - 1}) {
      byte[] damaged = stored.clone();
      damaged[at] ^= 0x40;
      assertEquals(OutputDiagnosis.BAD_MAP, diagnosis(damaged, raw), "byte " + at);
    }
    assertEquals(OutputDiagnosis.BAD_MAP,
        diagnosis(Arrays.copyOf(stored, stored.length - 7), raw), "cut");
  }

  private OutputDiagnosis diagnosis(byte[] stored, int rawBytes) throws Exception {
    Path beside = Files.createTempDirectory(dir, "daemon");
    try (ModelDaemon daemon = new ModelDaemon(beside, job,
        (number, answers) -> answers.serve(stored, rawBytes)); DaemonReads links = links()) {
      OutputDiagnosis found = found(links).diagnosis();
      assertTrue(daemon.asked() > 0);
      return found;
    }
  }

  /** Returns a segment as stock's map writes it. */
  private byte[] encrypted(int rawBytes) throws IOException {
    job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, true);
    setKey();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    FSDataOutputStream plain = CryptoUtils.wrapIfNecessary(job, new FSDataOutputStream(bytes, null));
    IFileOutputStream checked = new IFileOutputStream(plain);
    byte[] raw = new byte[rawBytes];
    new Random(2).nextBytes(raw);
    checked.write(raw);
    checked.finish();
    plain.close();
    return bytes.toByteArray();
  }

  private static void setKey() throws IOException {
    Credentials credentials = new Credentials();
    byte[] key = new byte[16];
    new Random(1).nextBytes(key);
    TokenCache.setEncryptedSpillKey(key, credentials);
    UserGroupInformation.getCurrentUser().addCredentials(credentials);
  }
}
