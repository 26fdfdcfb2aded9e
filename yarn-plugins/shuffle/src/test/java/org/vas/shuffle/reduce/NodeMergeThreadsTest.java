package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.MRConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.daemon.ModelDaemon;
import org.vas.shuffle.report.ReportSocket;

/** Counts the threads of a reduce task whose map output comes by the node's daemon. */
@Timeout(60)
class NodeMergeThreadsTest {
  private static final int MAPS = 6;
  private static final int RECORDS = 400;
  // The test's own, and those that Hadoop's ReduceTask has with any shuffle.
  private static final Set<String> NOT_THE_SHUFFLES = Set.of("model-daemon", "communication thread",
      "org.apache.hadoop.fs.FileSystem$Statistics$StatisticsDataReferenceCleaner");

  @TempDir Path dir;

  @Test
  void oneThreadReadsReportsAndNoneMerges() throws Exception {
    assertEquals(Set.of("vas-read-0"), threads("auto"));
  }

  /** What the count would show if there were more. */
  @Test
  void aJobThatAsksForAThreadOfTheMergeHasIt() throws Exception {
    assertEquals(Set.of("vas-merge", "vas-read-0"), threads("on"));
  }

  private Set<String> threads(String mergeThread) throws Exception {
    ReduceHarness harness = nodeMerge();
    harness.job.set("vas.shuffle.merge-thread", mergeThread);
    List<byte[]> segments = new ArrayList<>();
    for (int map = 0; map < MAPS; map++) {
      segments.add(segment(harness, map));
      harness.umbilical.event(ReduceHarness.map(map, 0), Status.SUCCEEDED);
    }
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Set<String> seen = new ConcurrentSkipListSet<>();
    try (ServerSocketChannel node = ReportSocket.listen(ReportSocket.below(dir.resolve("nm")));
        ModelDaemon daemon = new ModelDaemon(dir, harness.job, (number, answers) -> {
          seen.addAll(since(before));
          byte[] stored = segments.get(answers.map());
          answers.serve(stored, stored.length - 4);
        })) {
      assertEquals(MAPS * RECORDS, harness.run().size());
      assertTrue(daemon.asked() > 3 * MAPS, "looks and reads: " + daemon.asked());
      assertTrue(reported(node).endsWith("\n"), "the node is told all the same");
    }
    return seen;
  }

  private static Set<String> since(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread)).map(Thread::getName)
        .filter(name -> !NOT_THE_SHUFFLES.contains(name))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String reported(ServerSocketChannel node) throws IOException {
    try (SocketChannel task = node.accept()) {
      ByteBuffer text = ByteBuffer.allocate(4096);
      while (task.read(text) >= 0) {
        assertTrue(text.hasRemaining());
      }
      return new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII);
    }
  }

  private ReduceHarness nodeMerge() throws IOException {
    ReduceHarness harness = new ReduceHarness(dir, MAPS);
    harness.job.unset("mapreduce.job.map.output.collector.class");
    harness.job.setClass(
        MRConfig.SHUFFLE_CONSUMER_PLUGIN, NodeMerge.class, ShuffleConsumerPlugin.class);
    return harness;
  }

  /** Returns a segment as stock's map writes it, of more bytes than come with a look. */
  private static byte[] segment(ReduceHarness harness, int map) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    IFile.Writer<Text, Text> writer = new IFile.Writer<>(
        harness.job, new FSDataOutputStream(bytes, null), Text.class, Text.class, null, null);
    for (int record = 0; record < RECORDS; record++) {
      writer.append(new Text(String.format("%05d-%d", record, map)), new Text("v".repeat(1000)));
    }
    writer.close();
    return bytes.toByteArray();
  }
}
