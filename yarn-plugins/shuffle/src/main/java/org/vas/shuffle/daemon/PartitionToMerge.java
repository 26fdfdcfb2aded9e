package org.vas.shuffle.daemon;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.vas.shuffle.DaemonConf;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/** The segments that a reducer wants its node's daemon to merge, and how. Immutable. */
public final class PartitionToMerge {
  private static final int END_MARKER = 2;

  private final JobConf conf;
  private final TaskAttemptID reduce;
  private final SecretKey secret;
  private final byte order;
  private final byte codec;
  private final List<SegmentFile> segments;

  /**
   * Describes a merge.
   *
   * @param reduce the attempt that wants it
   * @param order the protocol's number of the order of keys (docs/adr/0021)
   * @param codec the protocol's number of the codec of map output
   * @param segments as looks at them found them; records with equal keys come in their order
   */
  public PartitionToMerge(JobConf conf, TaskAttemptID reduce, SecretKey secret, byte order,
      byte codec, List<SegmentFile> segments) {
    this.conf = requireNonNull(conf, "conf");
    this.reduce = requireNonNull(reduce, "reduce");
    this.secret = requireNonNull(secret, "secret");
    this.order = order;
    this.codec = codec;
    this.segments = List.copyOf(segments);
  }

  JobConf conf() {
    return conf;
  }

  JobID job() {
    return reduce.getJobID();
  }

  /** Returns job and attempt, as errors name them. */
  String where() {
    return job() + ", " + reduce;
  }

  SecretKey secret() {
    return secret;
  }

  Duration patience() {
    return DaemonConf.PATIENCE.get(conf);
  }

  /** Returns the number of bytes of the merged stream, with its end marker of two. */
  public long streamBytes() {
    return END_MARKER + segments.stream()
        .mapToLong(each -> each.segment().rawBytes() - END_MARKER).sum();
  }

  /** Returns the number of bytes of all segments as they are stored. */
  long storedBytes() {
    return segments.stream().mapToLong(each -> each.segment().storedBytes()).sum();
  }

  int segments() {
    return segments.size();
  }

  /**
   * Returns the words of the message that begins the merge.
   *
   * @param skip how many bytes of the stream this task has already
   */
  byte[] words(long skip) {
    int checksums = segments.stream().mapToInt(each -> each.segment().checksumCount()).sum();
    boolean sealed = conf.getBoolean(
        MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT);
    return ByteBuffer.allocate(39).put(Proofs.jobBytes(job())).putInt(reduce.getTaskID().getId()).put(order)
        .put(codec).put((byte) (sealed ? 1 : 0)).putLong(skip).putInt((int) patience().toMillis())
        .putInt(segments.size()).putInt(checksums).array();
  }

  /**
   * Returns the words of the message that describes one segment.
   *
   * @throws IOException if it is not known where its map ran
   */
  byte[] words(int index) throws IOException {
    SegmentFile file = segments.get(index);
    SegmentAddress at = SegmentAddress.of(file.file());
    Segment segment = file.segment();
    byte[] host = at.hostBytes();
    int sums = segment.checksumCount();
    ByteBuffer words = ByteBuffer.allocate(29 + host.length + Integer.BYTES * sums)
        .putInt(at.map().getTaskID().getId()).putInt(at.map().getId())
        .putLong(segment.rawBytes()).putLong(segment.storedBytes())
        .put((byte) host.length).put(host).putInt(sums);
    for (int block = 0; block < sums; block++) {
      words.putInt(segment.checksum(block));
    }
    return words.array();
  }
}
