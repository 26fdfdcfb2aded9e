package org.vas.shuffle.map;

import java.io.IOException;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.mof.MofFile;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.order.KeyOrder;

/**
 * The records of the segments of one partition, merged; equal keys come in the order of runs.
 * Segments are read as IFiles, each with its CRC32 at the end.
 */
final class RunMerge implements RawKeyValueIterator {
  private static final int RECORDS_PER_PROGRESS = 1 << 12;

  private final KeyOrder order;
  private final Progressable reporter;
  private final Progress progress = new Progress();
  private final PriorityQueue<Cursor> cursors;
  private Cursor current;
  private int records;

  /** @param segments of one partition */
  RunMerge(JobConf job, AttemptFiles files, List<MofFile> mofs, List<Segment> segments,
      CompressionCodec codec, KeyOrder order, Progressable reporter) throws IOException {
    this.order = order;
    this.reporter = reporter;
    this.cursors = new PriorityQueue<>(segments.size(), this::compare);
    try {
      for (Segment segment : segments) {
        add(new Cursor(job, files, mofs.get(segment.file()), segment, codec));
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public boolean next() throws IOException {
    if (current != null) {
      Cursor last = current;
      current = null;
      add(last);
    }
    current = cursors.poll();
    if (++records % RECORDS_PER_PROGRESS == 0) {
      reporter.progress();
    }
    return current != null;
  }

  @Override
  public DataInputBuffer getKey() {
    return current.key;
  }

  @Override
  public DataInputBuffer getValue() {
    return current.value;
  }

  @Override
  public Progress getProgress() {
    return progress;
  }

  @Override
  public void close() throws IOException {
    while (!cursors.isEmpty()) {
      cursors.poll().reader.close();
    }
  }

  private void add(Cursor cursor) throws IOException {
    if (cursor.next()) {
      cursors.add(cursor);
    } else {
      cursor.reader.close();
    }
  }

  private int compare(Cursor left, Cursor right) {
    int byKey = order.compare(left.key.getData(), 0, left.key.getLength(),
        right.key.getData(), 0, right.key.getLength());
    return byKey != 0 ? byKey : Integer.compare(left.run, right.run);
  }

  /** The record at which the reading of one segment stands. */
  private static final class Cursor {
    private final int run;
    private final IFile.Reader<Object, Object> reader;
    private final DataInputBuffer key = new DataInputBuffer();
    private final DataInputBuffer value = new DataInputBuffer();

    Cursor(JobConf job, AttemptFiles files, MofFile mof, Segment segment, CompressionCodec codec)
        throws IOException {
      this.run = segment.run();
      FSDataInputStream in = files.open(mof.name());
      try {
        in.seek(segment.offset());
        this.reader = new IFile.Reader<>(job, CryptoUtils.wrapIfNecessary(job, in),
            segment.storedBytes() - CryptoUtils.cryptoPadding(job), codec, null);
      } catch (IOException | RuntimeException e) {
        in.close();
        throw new IOException(files.path(mof.name()) + ": " + e.getMessage(), e);
      }
    }

    boolean next() throws IOException {
      if (!reader.nextRawKey(key)) {
        return false;
      }
      reader.nextRawValue(value);
      return true;
    }
  }
}
