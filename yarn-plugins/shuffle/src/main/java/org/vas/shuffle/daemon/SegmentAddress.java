package org.vas.shuffle.daemon;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;

/** The address of a segment: a partition of a map attempt's output, and the node where that ran. */
public final class SegmentAddress {
  /** The scheme of the paths. */
  static final String SCHEME = "vas-node";

  private static final int LONGEST_HOST = 253;

  private final String host;
  private final TaskAttemptID map;
  private final int partition;

  /**
   * Makes the address of a partition.
   *
   * @param host as the map's completion event names it
   */
  public SegmentAddress(String host, TaskAttemptID map, int partition) {
    this.host = host;
    this.map = map;
    this.partition = partition;
  }

  /** Returns the path that stands for this segment: {@code vas-node:/HOST/ATTEMPT/PARTITION}. */
  public Path path() {
    return new Path(SCHEME, null, "/" + host + "/" + map + "/" + partition);
  }

  /**
   * Returns the address for which a path stands.
   *
   * @throws IllegalArgumentException if the path is of another kind
   */
  static SegmentAddress of(Path path) {
    String[] names = path.toUri().getPath().split("/", -1);
    if (names.length != 4) {
      throw new IllegalArgumentException(path + ": not a segment of a node");
    }
    return new SegmentAddress(names[1], TaskAttemptID.forName(names[2]),
        Integer.parseInt(names[3]));
  }

  /**
   * Returns the body of a request for this segment.
   *
   * @param what {@link DaemonRequest#words} of the request
   * @throws IOException if it is not known where the map ran
   */
  byte[] request(JobID job, byte[] what) throws IOException {
    byte[] name = hostBytes();
    return ByteBuffer.allocate(12 + 3 * Integer.BYTES + what.length + 1 + name.length)
        .put(Proofs.jobBytes(job)).putInt(map.getTaskID().getId()).putInt(map.getId())
        .putInt(partition).put(what).put((byte) name.length).put(name).array();
  }

  /**
   * Returns the host's name as it goes into messages: 1 to 253 bytes.
   *
   * @throws IOException if it is not known where the map ran
   */
  byte[] hostBytes() throws IOException {
    byte[] name = host.getBytes(StandardCharsets.US_ASCII);
    if (name.length == 0 || name.length > LONGEST_HOST) {
      throw new IOException(this + ": nobody knows where the map ran");
    }
    return name;
  }

  TaskAttemptID map() {
    return map;
  }

  @Override
  public String toString() {
    return map + " on " + host + ", partition " + partition;
  }
}
