package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.order.KeyOrder;

/** A task that waits for the file system says that it lives. */
@Timeout(60)
class WaitingTest {
  private static final MemoryPlan SMALL = new MemoryPlan(0, 64 << 10, 0);
  private static final List<byte[][]> ONE = List.<byte[][]>of(new byte[][] {new byte[5], {7}});

  @TempDir Path dir;

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  @Test
  void aReduceThatWaitsForTheMergeReportsProgress() throws Exception {
    byte[] stream = PiecesOf.stream(ONE);
    CountDownLatch progress = new CountDownLatch(2);
    SegmentFile source = file(stream);
    SharedFileSystem.inject((call, path) -> {
      if (call.equals("read")) {
        await(progress); // the file answers only after the task has been heard of
      }
    });
    JobConf job = job();
    FileSystem fs = source.file().getFileSystem(job);
    try (ReadPool pool = new ReadPool(Duration.ofSeconds(30))) {
      List<RecordCursor> inputs = new SegmentOpener(
          fs, job, null, pool, ReadMeter.NONE, progress::countDown)
          .open(List.of(source), 64 << 10, 0);
      BatchedRecords records = batched(new Merge(inputs, KeyOrder.of(job)), stream.length, () -> {});
      assertTrue(records.next());
      assertFalse(records.next());
      records.close();
    }
  }

  private SegmentFile file(byte[] stream) throws IOException {
    Path file = Files.write(dir.resolve("segment"), stream);
    CRC32C crc = new CRC32C();
    crc.update(stream, 0, stream.length);
    return new SegmentFile(
        new org.apache.hadoop.fs.Path(SharedFileSystem.SCHEME + "://" + file),
        new Segment(0, 0, 0, 0, stream.length, stream.length, 1,
            new int[] {(int) crc.getValue()}));
  }

  private static JobConf job() {
    JobConf job = new JobConf(false);
    SharedFileSystem.configure(job);
    job.setMapOutputKeyClass(BytesWritable.class);
    return job;
  }

  private static BatchedRecords batched(Merge merge, int rawBytes, Progressable alive) {
    return new BatchedRecords(merge, new Conservation(1, rawBytes - RawSize.END_MARKER),
        OrderCheck.none(), SMALL, alive);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
