package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.vas.shuffle.order.KeyOrder;

/** A task that waits for the file system says that it lives. */
@Timeout(60)
class WaitingTest {
  @Test
  void aReduceThatWaitsForTheMergeReportsProgress() throws Exception {
    byte[] stream = PiecesOf.stream(List.<byte[][]>of(new byte[][] {new byte[5], new byte[1]}));
    CountDownLatch progress = new CountDownLatch(2);
    Chunks slow = new PiecesOf(stream, 100) {
      @Override
      public boolean next() {
        await(progress); // the file answers only after the task has been heard of
        return super.next();
      }
    };
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(BytesWritable.class);
    RecordCursor cursor = new RecordCursor("test", slow, 1, stream.length);
    BatchedRecords records = new BatchedRecords(new Merge(List.of(cursor), KeyOrder.of(job)),
        new Conservation(1, stream.length - RawSize.END_MARKER),
        new MemoryPlan(0, 64 << 10, 0), progress::countDown);
    assertTrue(records.next());
    assertFalse(records.next());
    records.close();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
