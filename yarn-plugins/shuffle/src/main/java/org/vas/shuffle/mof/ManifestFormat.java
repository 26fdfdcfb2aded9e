package org.vas.shuffle.mof;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;

/** A manifest as bytes, and back: the table at the end of docs/shuffle.md. */
public final class ManifestFormat {
  private static final int MAGIC = 0x5641534d;
  private static final int VERSION = 1;
  private static final int COMPRESSED = 1;
  private static final int ENCRYPTED = 2;
  private static final int CHECKSUM = Integer.BYTES;
  private static final int LONGEST_NAME = 4096;
  private static final int ALL = -1;

  private ManifestFormat() {}

  /** The bytes of a manifest. */
  public static byte[] encode(Manifest manifest) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(MAGIC);
    out.writeByte(VERSION);
    out.writeByte((manifest.compressed() ? COMPRESSED : 0)
        | (manifest.encrypted() ? ENCRYPTED : 0));
    Text.writeString(out, manifest.attempt());
    Text.writeString(out, manifest.host());
    WritableUtils.writeVInt(out, manifest.partitions());
    WritableUtils.writeVInt(out, manifest.runs());
    writeFiles(out, manifest.files());
    writeSegments(out, manifest.segments());
    out.writeInt(crc(bytes.toByteArray(), bytes.size()));
    return bytes.toByteArray();
  }

  /**
   * The manifest in these bytes. Allocates no more than a small multiple of their length, whatever
   * they say.
   *
   * @throws ManifestException that says what is wrong with them
   */
  public static Manifest decode(byte[] bytes) throws ManifestException {
    return decode(bytes, ALL);
  }

  /** The same manifest with the segments of one partition only; all bytes are checked as well. */
  public static Manifest decode(byte[] bytes, int partition) throws ManifestException {
    int body = bytes.length - CHECKSUM;
    if (body < 0) {
      throw new ManifestException("cut short: " + bytes.length + " bytes");
    }
    if (ByteBuffer.wrap(bytes).getInt(body) != crc(bytes, body)) {
      throw new ManifestException("wrong checksum over " + bytes.length + " bytes");
    }
    try {
      return read(new ByteArrayInputStream(bytes, 0, body), partition);
    } catch (ManifestException e) {
      throw e;
    } catch (IOException | IllegalArgumentException e) {
      throw new ManifestException("does not add up: " + e.getMessage(), e);
    }
  }

  private static Manifest read(ByteArrayInputStream bytes, int partition) throws IOException {
    DataInputStream in = new DataInputStream(bytes);
    checkKind(in);
    int flags = in.readUnsignedByte();
    if ((flags & ~(COMPRESSED | ENCRYPTED)) != 0) {
      throw new ManifestException("unknown flags 0x" + Integer.toHexString(flags));
    }
    Manifest.Builder builder = Manifest.of(Text.readString(in, LONGEST_NAME))
        .host(Text.readString(in, LONGEST_NAME))
        .compressed((flags & COMPRESSED) != 0)
        .encrypted((flags & ENCRYPTED) != 0)
        .partitions(readInt(in))
        .runs(readInt(in))
        .files(readFiles(in))
        .segments(readSegments(in, partition));
    if (bytes.available() > 0) {
      throw new ManifestException(bytes.available() + " bytes too many");
    }
    Manifest manifest = builder.build();
    return partition == ALL ? manifest : manifest.only(partition);
  }

  private static void checkKind(DataInputStream in) throws IOException {
    int magic = in.readInt();
    if (magic != MAGIC) {
      throw new ManifestException("no manifest: starts with 0x" + Integer.toHexString(magic));
    }
    int version = in.readUnsignedByte();
    if (version != VERSION) {
      throw new ManifestException("version " + version + ", known is " + VERSION);
    }
  }

  private static void writeFiles(DataOutputStream out, List<MofFile> files) throws IOException {
    WritableUtils.writeVInt(out, files.size());
    for (MofFile file : files) {
      Text.writeString(out, file.name());
      WritableUtils.writeVLong(out, file.length());
    }
  }

  private static List<MofFile> readFiles(DataInputStream in) throws IOException {
    int count = readCount(in, 3);
    List<MofFile> files = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      files.add(new MofFile(Text.readString(in, LONGEST_NAME), WritableUtils.readVLong(in)));
    }
    return files;
  }

  private static void writeSegments(DataOutputStream out, List<Segment> segments)
      throws IOException {
    WritableUtils.writeVInt(out, segments.size());
    for (Segment segment : segments) {
      WritableUtils.writeVInt(out, segment.partition());
      WritableUtils.writeVInt(out, segment.run());
      WritableUtils.writeVInt(out, segment.file());
      WritableUtils.writeVLong(out, segment.offset());
      WritableUtils.writeVLong(out, segment.storedBytes());
      WritableUtils.writeVLong(out, segment.rawBytes());
      WritableUtils.writeVLong(out, segment.records());
      for (int i = 0; i < segment.checksumCount(); i++) {
        out.writeInt(segment.checksum(i));
      }
    }
  }

  private static List<Segment> readSegments(DataInputStream in, int only) throws IOException {
    int count = readCount(in, 7 + CHECKSUM);
    List<Segment> segments = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int partition = readInt(in);
      int run = readInt(in);
      int file = readInt(in);
      long offset = WritableUtils.readVLong(in);
      long stored = WritableUtils.readVLong(in);
      long raw = WritableUtils.readVLong(in);
      long records = WritableUtils.readVLong(in);
      int checksums = checksumCount(in, stored);
      if (only == ALL || only == partition) {
        segments.add(new Segment(partition, run, file, offset, stored, raw, records,
            readChecksums(in, checksums)));
      } else {
        in.skipBytes(checksums * CHECKSUM);
        segments.add(
            Segment.withoutChecksums(partition, run, file, offset, stored, raw, records));
      }
    }
    return segments;
  }

  private static int checksumCount(DataInputStream in, long stored) throws IOException {
    long count = stored <= 0 ? 0 : Segment.checksumsOf(stored);
    if (count > in.available() / CHECKSUM) {
      throw new ManifestException("no room for the checksums of " + stored + " bytes");
    }
    return (int) count;
  }

  private static int[] readChecksums(DataInputStream in, int count) throws IOException {
    int[] checksums = new int[count];
    for (int i = 0; i < count; i++) {
      checksums[i] = in.readInt();
    }
    return checksums;
  }

  // A count larger than the bytes left can hold would make a list of any size.
  private static int readCount(DataInputStream in, int smallestItem) throws IOException {
    int count = readInt(in);
    if (count < 0 || count > in.available() / smallestItem) {
      throw new ManifestException("no room for " + count + " items");
    }
    return count;
  }

  private static int readInt(DataInputStream in) throws IOException {
    return WritableUtils.readVInt(in);
  }

  private static int crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
