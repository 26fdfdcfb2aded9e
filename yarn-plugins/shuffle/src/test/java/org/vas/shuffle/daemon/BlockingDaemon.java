package org.vas.shuffle.daemon;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.SecretKey;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.vas.shuffle.merge.Chunks;
import org.vas.shuffle.merge.SegmentOpener;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/** Asks a daemon as a reducer does, and waits for each answer. */
public final class BlockingDaemon implements Closeable {
  private final DaemonReads reads;
  private final FileSystem local;

  public BlockingDaemon(JobConf conf, JobID job, SecretKey secret) throws IOException {
    this.reads = new DaemonReads(conf, job, secret, () -> {});
    this.local = FileSystem.getLocal(conf).getRaw();
  }

  public DaemonReads reads() {
    return reads;
  }

  public LookedSegment look(SegmentAddress at, boolean mayHold, boolean verify) throws IOException {
    CompletableFuture<LookedSegment> answer = new CompletableFuture<>();
    reads.look(at, at.toString(), mayHold, verify, (looked, cause) -> {
      if (cause == null) {
        answer.complete(looked);
      } else {
        answer.completeExceptionally(cause);
      }
    });
    return wait(answer);
  }

  private static <T> T wait(CompletableFuture<T> answer) throws IOException {
    try {
      return answer.get(50, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException) {
        throw (IOException) e.getCause();
      }
      throw new AssertionError(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer", e);
    }
  }

  /** Returns all stored bytes of a segment, verified, read in buffers of so many bytes. */
  public byte[] read(SegmentAddress at, Segment segment, int bufferBytes) throws IOException {
    byte[] all = new byte[(int) segment.storedBytes()];
    int done = 0;
    try (Chunks chunks = SegmentOpener.stored(local, new SegmentFile(at.path(), segment, "node"),
        ReadMeter.NONE, reads, () -> {}, bufferBytes)) {
      while (chunks.next()) {
        int length = chunks.end() - chunks.start();
        System.arraycopy(chunks.data(), chunks.start(), all, done, length);
        done += length;
      }
    }
    if (done != all.length) {
      throw new IOException(done + " of " + all.length + " bytes");
    }
    return all;
  }

  @Override
  public void close() {
    reads.close();
  }
}
