package org.vas.shuffle.map;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.ManifestFormat;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleDirs;

/** Reads map outputs back through Hadoop's own IFile.Reader: ours and stock's. */
final class WrittenOutput {
  /** The bytes of a serialised record. */
  static final class Record {
    final byte[] key;
    final byte[] value;

    Record(byte[] key, byte[] value) {
      this.key = key;
      this.value = value;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Record && Arrays.equals(key, ((Record) other).key)
          && Arrays.equals(value, ((Record) other).value);
    }

    @Override
    public int hashCode() {
      return 31 * Arrays.hashCode(key) + Arrays.hashCode(value);
    }

    @Override
    public String toString() {
      return Arrays.toString(key) + "=" + Arrays.toString(value);
    }
  }

  private WrittenOutput() {}

  static Manifest manifest(JobConf job) throws IOException {
    return ManifestFormat.decode(
        Files.readAllBytes(MapRun.directory(job).resolve(ShuffleDirs.MANIFEST)));
  }

  /** The records of one partition, run after run. */
  static List<Record> records(JobConf job, Manifest manifest, int partition) throws IOException {
    List<Record> records = new ArrayList<>();
    for (Segment segment : manifest.segments(partition)) {
      records.addAll(records(job, manifest, segment));
    }
    return records;
  }

  /** The records of one segment, whose count has to be right. */
  static List<Record> records(JobConf job, Manifest manifest, Segment segment)
      throws IOException {
    Path file = new Path(new ShuffleDirs(job).attempt(MapRun.ATTEMPT),
        manifest.files().get(segment.file()).name());
    List<Record> records = read(job, file, segment.offset(), segment.storedBytes());
    if (records.size() != segment.records()) {
      throw new IOException(records.size() + " records, promised " + segment.records());
    }
    return records;
  }

  /** The records of one partition of a run with stock's collector. */
  static List<Record> stock(JobConf job, int partition) throws IOException {
    MROutputFiles files = new MROutputFiles();
    files.setConf(job);
    IndexRecord index = new SpillRecord(files.getOutputIndexFile(), job).getIndex(partition);
    return read(job, files.getOutputFile(), index.startOffset, index.partLength);
  }

  static byte[] stockBytes(JobConf job) throws IOException {
    MROutputFiles files = new MROutputFiles();
    files.setConf(job);
    return Files.readAllBytes(java.nio.file.Path.of(files.getOutputFile().toUri().getPath()));
  }

  /** Records in the job's order; equal keys stay as they are. */
  static List<Record> sorted(JobConf job, List<Record> records) {
    RawComparator<?> order = job.getOutputKeyComparator();
    List<Record> sorted = new ArrayList<>(records);
    sorted.sort((a, b) -> order.compare(a.key, 0, a.key.length, b.key, 0, b.key.length));
    return sorted;
  }

  private static List<Record> read(JobConf job, Path file, long offset, long length)
      throws IOException {
    List<Record> records = new ArrayList<>();
    FileSystem fs = file.toUri().getScheme() == null
        ? FileSystem.getLocal(job).getRaw() : file.getFileSystem(job);
    FSDataInputStream in = fs.open(file);
    in.seek(offset);
    IFile.Reader<Object, Object> reader = new IFile.Reader<>(job,
        CryptoUtils.wrapIfNecessary(job, in), length - CryptoUtils.cryptoPadding(job),
        SegmentWriter.codec(job), null);
    DataInputBuffer key = new DataInputBuffer();
    while (reader.nextRawKey(key)) {
      DataInputBuffer value = new DataInputBuffer();
      reader.nextRawValue(value);
      records.add(new Record(bytes(key), bytes(value)));
    }
    reader.close();
    return records;
  }

  private static byte[] bytes(DataInputBuffer buffer) {
    return Arrays.copyOfRange(buffer.getData(), buffer.getPosition(), buffer.getLength());
  }
}
