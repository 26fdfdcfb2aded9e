package org.vas.shuffle.mof;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes manifests of version 1, which jobs have that were running when the site was upgraded.
 * They have one checksum over all their bytes and no index: to read a part is to read the whole.
 */
final class ManifestV1 {
  static final int VERSION = 1;
  /** Selects the segments of every partition. */
  static final int ALL = -1;

  private static final int HEAD = Integer.BYTES + 1;

  private ManifestV1() {}

  /**
   * Decodes a whole manifest, and keeps the segments of one partition, or of {@link #ALL}.
   *
   * @throws ManifestException that says what is wrong, also for any other version
   */
  static Manifest decode(byte[] bytes, int partition) throws ManifestException {
    return ManifestBytes.decoding(() -> {
      ManifestBytes.checkSeal(bytes);
      int version = ManifestBytes.version(bytes, bytes.length - ManifestBytes.CHECKSUM);
      if (version != VERSION) {
        throw new ManifestException("version " + version + ", known is " + VERSION);
      }
      return read(bytes, partition);
    });
  }

  /**
   * Decodes a manifest whose checksum and version were checked; keeps the segments of {@code
   * partition}.
   */
  static Manifest read(byte[] bytes, int partition) throws IOException {
    ByteArrayInputStream body = new ByteArrayInputStream(
        bytes, HEAD, bytes.length - HEAD - ManifestBytes.CHECKSUM);
    DataInputStream in = new DataInputStream(body);
    int flags = in.readUnsignedByte();
    ManifestBytes.checkFlags(flags);
    Manifest.Builder builder = Manifest.of(ManifestBytes.readText(in))
        .host(ManifestBytes.readText(in))
        .compressed((flags & ManifestBytes.COMPRESSED) != 0)
        .encrypted((flags & ManifestBytes.ENCRYPTED) != 0)
        .partitions(ManifestBytes.readInt(in))
        .runs(ManifestBytes.readInt(in))
        .files(readFiles(in))
        .segments(readSegments(in, partition));
    ManifestBytes.checkEnd(body);
    Manifest manifest = builder.build();
    return partition == ALL ? manifest : manifest.only(partition);
  }

  private static List<MofFile> readFiles(DataInputStream in) throws IOException {
    int count = ManifestBytes.readCount(in, 3);
    List<MofFile> files = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      files.add(ManifestBytes.readFile(in));
    }
    return files;
  }

  private static List<Segment> readSegments(DataInputStream in, int only) throws IOException {
    int count = ManifestBytes.readCount(in, 7 + ManifestBytes.CHECKSUM);
    List<Segment> segments = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int partition = ManifestBytes.readInt(in);
      segments.add(
          ManifestBytes.readSegment(in, partition, only == ALL || only == partition));
    }
    return segments;
  }
}
