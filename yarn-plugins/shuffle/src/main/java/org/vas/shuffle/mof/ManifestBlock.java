package org.vas.shuffle.mof;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;

/**
 * A block of a manifest of version 2: the segments of one partition, with all that a reader needs
 * to use them, under one checksum. The summary is a block with every file and no segments.
 */
final class ManifestBlock {
  /** The partition of the summary, and of the block that all empty partitions share. */
  static final int NONE = -1;
  /** Bytes of the smallest block. */
  static final int SMALLEST = 7 + ManifestBytes.CHECKSUM;

  private static final int SMALLEST_FILE = 4;
  private static final int SMALLEST_SEGMENT = 6 + ManifestBytes.CHECKSUM;

  private final Manifest.Builder builder;
  private final String attempt;
  private final String host;
  private final int partitions;
  private final int runs;
  private final int partition;
  private final List<Integer> numbers = new ArrayList<>();
  private final List<MofFile> files = new ArrayList<>();
  private final List<Segment> segments = new ArrayList<>();

  private ManifestBlock(DataInputStream in, String name, long memory) throws IOException {
    attempt = ManifestBytes.readText(in);
    host = ManifestBytes.readText(in);
    partitions = ManifestBytes.readInt(in);
    runs = ManifestBytes.readInt(in);
    partition = ManifestBytes.readInt(in);
    builder = Manifest.of(attempt).host(host).partitions(partitions).runs(runs);
    int fileCount = ManifestBytes.readCount(in, SMALLEST_FILE);
    for (int i = 0; i < fileCount; i++) {
      numbers.add(ManifestBytes.readInt(in));
      files.add(ManifestBytes.readFile(in));
    }
    int segmentCount = ManifestBytes.readCount(in, SMALLEST_SEGMENT);
    ManifestTooLargeException.check(
        name, 2L * in.available() + (long) segmentCount * SegmentFile.MEMORY, memory);
    for (int i = 0; i < segmentCount; i++) {
      segments.add(ManifestBytes.readSegment(in, partition, true));
    }
  }

  /**
   * Decodes a block.
   *
   * @param name the block's name, for errors
   * @param memory bytes that its segments may take
   * @throws ManifestException that says what is wrong with the bytes
   * @throws ManifestTooLargeException if the segments need more memory
   */
  static ManifestBlock decode(byte[] bytes, int from, int length, String name, long memory)
      throws ManifestException {
    int body = length - ManifestBytes.CHECKSUM;
    DataInputStream seal =
        new DataInputStream(new ByteArrayInputStream(bytes, from + body, ManifestBytes.CHECKSUM));
    return ManifestBytes.decoding(() -> {
      if (seal.readInt() != ManifestBytes.crc(bytes, from, body)) {
        throw new ManifestException(name + ": wrong checksum over " + length + " bytes");
      }
      ByteArrayInputStream in = new ByteArrayInputStream(bytes, from, body);
      ManifestBlock block = new ManifestBlock(new DataInputStream(in), name, memory);
      ManifestBytes.checkEnd(in);
      return block;
    });
  }

  /** Encodes the segments of one partition, with the files that they are in. */
  static byte[] encode(Manifest manifest, int partition, List<Segment> segments)
      throws IOException {
    Map<Integer, Integer> places = new LinkedHashMap<>();
    segments.forEach(each -> places.putIfAbsent(each.file(), places.size()));
    return encode(manifest, partition, places, segments);
  }

  /** Encodes the summary: every file, and no segment. */
  static byte[] summary(Manifest manifest) throws IOException {
    Map<Integer, Integer> places = new LinkedHashMap<>();
    for (int i = 0; i < manifest.files().size(); i++) {
      places.put(i, i);
    }
    return encode(manifest, NONE, places, List.of());
  }

  private static byte[] encode(Manifest manifest, int partition, Map<Integer, Integer> places,
      List<Segment> segments) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    Text.writeString(out, manifest.attempt());
    Text.writeString(out, manifest.host());
    WritableUtils.writeVInt(out, manifest.partitions());
    WritableUtils.writeVInt(out, manifest.runs());
    WritableUtils.writeVInt(out, partition);
    WritableUtils.writeVInt(out, places.size());
    for (int file : places.keySet()) {
      WritableUtils.writeVInt(out, file);
      ManifestBytes.writeFile(out, manifest.files().get(file));
    }
    WritableUtils.writeVInt(out, segments.size());
    for (Segment segment : segments) {
      ManifestBytes.writeSegment(out, segment, places.get(segment.file()));
    }
    out.writeInt(ManifestBytes.crc(bytes.toByteArray(), 0, bytes.size()));
    return bytes.toByteArray();
  }

  /**
   * Throws unless this is the block of partition {@code expected}, or the one that empty ones
   * share.
   */
  void check(int expected) throws ManifestException {
    boolean shared = partition == NONE && segments.isEmpty();
    if (partition != expected && !shared) {
      throw new ManifestException(IndexRecord.name(expected) + ": the block of "
          + IndexRecord.name(partition) + " is in its place");
    }
  }

  /** Throws unless this is a block of the manifest with that summary. */
  void check(ManifestBlock summary) throws ManifestException {
    if (!attempt.equals(summary.attempt) || !host.equals(summary.host)
        || partitions != summary.partitions || runs != summary.runs) {
      throw new ManifestException(
          IndexRecord.name(partition) + ": a block of another manifest");
    }
    for (int i = 0; i < files.size(); i++) {
      int number = numbers.get(i);
      if (number < 0 || number >= summary.files.size()
          || !summary.files.get(number).equals(files.get(i))) {
        throw new ManifestException(
            IndexRecord.name(partition) + ": its files are not those of the summary");
      }
    }
  }

  /** Returns the manifest as the reader of this partition sees it: its own files and segments. */
  Manifest manifest(int flags) {
    return with(flags).files(files).segments(segments).build();
  }

  /** Returns the builder of the manifest that this block is of; it has no files and segments. */
  Manifest.Builder with(int flags) {
    return builder.compressed((flags & ManifestBytes.COMPRESSED) != 0)
        .encrypted((flags & ManifestBytes.ENCRYPTED) != 0);
  }

  /** Returns the segments, with files numbered as in the whole manifest. */
  List<Segment> renumbered() throws ManifestException {
    List<Segment> renumbered = new ArrayList<>(segments.size());
    for (Segment each : segments) {
      if (each.file() >= numbers.size()) {
        throw new ManifestException("does not add up: a segment in no file");
      }
      renumbered.add(each.renumbered(each.run(), numbers.get(each.file())));
    }
    return renumbered;
  }

  int partition() {
    return partition;
  }

  int partitions() {
    return partitions;
  }

  List<MofFile> files() {
    return files;
  }
}
