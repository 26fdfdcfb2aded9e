package org.apache.spark.shuffle.vas;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.ChecksummedOutput;

/**
 * Writes the output of one attempt of a map task: partition after partition into one data file, then
 * the index, which is renamed to its final name when both are whole. Without bytes there is an index
 * and no data file. Not for several threads.
 */
final class VasMapOutputWriter implements ShuffleMapOutputWriter {
  private static final Logger LOG = LoggerFactory.getLogger(VasMapOutputWriter.class);

  private final ApplicationFiles files;
  private final int shuffle;
  private final long task;
  private final boolean sync;
  private final Tally tally;
  private final long[] lengths;
  private final int[][] checksums;
  private FSDataOutputStream data;
  private int last = -1;
  private boolean ended;

  /**
   * Makes a writer; the first byte makes the file.
   *
   * @param task the id of the task attempt, which no other attempt of the application has
   * @param sync whether both files are on the servers' disks before they are published; an index
   *     alone would be of no use
   */
  VasMapOutputWriter(ApplicationFiles files, int shuffle, long task, int partitions, boolean sync) {
    this.files = files;
    this.shuffle = shuffle;
    this.task = task;
    this.sync = sync;
    this.tally = files.tally();
    this.lengths = new long[partitions];
    this.checksums = new int[partitions][];
  }

  @Override
  public ShufflePartitionWriter getPartitionWriter(int partition) {
    if (partition <= last) {
      throw new IllegalArgumentException("partition " + partition + " after " + last);
    }
    last = partition;
    return new PartitionWriter(partition);
  }

  @Override
  public MapOutputCommitMessage commitAllPartitions(long[] sparksChecksums) throws IOException {
    checkWhole();
    if (data != null) {
      syncIfAsked(data);
      data.close();
    }
    byte[] index = MapIndex.encode(shuffle, task, lengths, checksums);
    String unpublished = PredictableNames.sparkUnpublished(task);
    try (FSDataOutputStream out = files.create(shuffle, unpublished, tally)) {
      out.write(index);
      syncIfAsked(out);
    }
    files.publish(shuffle, unpublished, PredictableNames.sparkIndex(task));
    files.indexes().keep(shuffle, task, index);
    tally.count(WorkKind.BYTES_WRITTEN, Arrays.stream(lengths).sum());
    ended = true;
    return MapOutputCommitMessage.of(lengths);
  }

  private void syncIfAsked(FSDataOutputStream out) throws IOException {
    if (sync) {
      tally.count(WorkKind.SYNCS);
      out.hsync();
    }
  }

  private void checkWhole() throws IOException {
    long written = data == null ? 0 : data.getPos();
    long counted = Arrays.stream(lengths).sum();
    if (ended || written != counted) {
      throw new IOException(files.shuffle(shuffle) + ": task attempt " + task + " has written "
          + written + " bytes, and partitions of " + counted + (ended ? ", and has ended" : ""));
    }
  }

  /** Removes what was written; does nothing after a commit or when it was called before. */
  @Override
  public void abort(Throwable error) {
    if (ended) {
      return;
    }
    ended = true;
    try {
      if (data != null) {
        data.close();
      }
    } catch (IOException e) {
      LOG.debug("The file did not close; the writer removes it now", e);
    }
    remove(PredictableNames.sparkUnpublished(task));
    if (data != null) {
      remove(PredictableNames.sparkData(task));
    }
  }

  // What stays goes with the shuffle.
  private void remove(String name) {
    try {
      files.remove(shuffle, name);
    } catch (IOException e) {
      LOG.debug("{}/{}: not removed", files.shuffle(shuffle), name, e);
    }
  }

  private OutputStream data() throws IOException {
    if (ended) {
      throw new IOException(files.shuffle(shuffle) + ": task attempt " + task + " has ended");
    }
    if (data == null) {
      data = files.create(shuffle, PredictableNames.sparkData(task), tally);
    }
    return data;
  }

  /** Counts the bytes of one partition. */
  private final class PartitionWriter implements ShufflePartitionWriter {
    private final int partition;
    private ChecksummedOutput stored;

    PartitionWriter(int partition) {
      this.partition = partition;
    }

    @Override
    public OutputStream openStream() {
      stored = new ChecksummedOutput(new LazyData());
      return new PartitionStream(stored, partition);
    }

    @Override
    public long getNumBytesWritten() {
      return stored == null ? 0 : stored.bytes();
    }
  }

  /** The data file, made at the first byte: a map without output makes none. */
  private final class LazyData extends OutputStream {
    @Override
    public void write(int value) throws IOException {
      data().write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (length > 0) {
        data().write(bytes, offset, length);
      }
    }
  }

  /** The stream of one partition; closing it ends the partition, and not the file. */
  private final class PartitionStream extends FilterOutputStream {
    private final ChecksummedOutput stored;
    private final int partition;
    private boolean closed;

    PartitionStream(ChecksummedOutput stored, int partition) {
      super(stored);
      this.stored = stored;
      this.partition = partition;
    }

    @Override
    public void write(int value) throws IOException {
      checkOpen();
      stored.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      checkOpen();
      stored.write(bytes, offset, length);
    }

    private void checkOpen() throws IOException {
      if (closed) {
        throw new IOException("partition " + partition + " was closed");
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        lengths[partition] = stored.bytes();
        checksums[partition] = stored.checksums();
      }
    }
  }
}
