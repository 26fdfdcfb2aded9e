package org.vas.shuffle.mof;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/** Manifests that other readers of the format are tested with, by the names of their files. */
final class ManifestVectors {
  private static final String ATTEMPT = "attempt_1700000000000_0001_m_000007_0";
  private static final int BLOCK = Segment.CHECKSUM_BYTES;

  private ManifestVectors() {}

  static Map<String, Manifest> good() {
    Map<String, Manifest> good = new LinkedHashMap<>();
    good.put("empty", Manifest.of(ATTEMPT).partitions(4).build());
    good.put("packed-two-runs", packed().build());
    good.put("per-reducer", Manifest.of(ATTEMPT).host("vm1").partitions(300).runs(1)
        .files(List.of(new MofFile("00000.mof", 100), new MofFile("00299.mof", BLOCK)))
        .segments(List.of(new Segment(0, 0, 0, 0, 100, 120, 3, 5),
            new Segment(299, 0, 1, 0, BLOCK, 99_999, 1000, -1)))
        .build());
    good.put("compressed-encrypted", packed().compressed(true).encrypted(true).build());
    good.put("far-offset", Manifest.of(ATTEMPT).host("gäst-1").partitions(1).runs(1)
        .files(List.of(new MofFile("packed.mof", Long.MAX_VALUE)))
        .segments(List.of(new Segment(0, 0, 0, 1L << 40, 10, 1L << 50, 1L << 33, 1)))
        .build());
    return good;
  }

  /** Bytes that every reader refuses. */
  static Map<String, byte[]> bad() throws IOException {
    byte[] whole = ManifestFormat.encode(packed().build());
    int count = ManifestFormat.encode(Manifest.of(ATTEMPT).partitions(4).build()).length;
    Map<String, byte[]> bad = new LinkedHashMap<>();
    bad.put("nothing", new byte[0]);
    bad.put("cut", Arrays.copyOf(whole, whole.length - 9));
    bad.put("flipped", changed(whole, 60, whole[60] ^ 1));
    bad.put("other-magic", resealed(changed(whole, 0, 'W')));
    bad.put("other-version", resealed(changed(whole, 4, 2)));
    bad.put("unknown-flag", resealed(changed(whole, 5, 4)));
    bad.put("a-byte-too-many", resealed(Arrays.copyOf(whole, whole.length + 1)));
    byte[] empty = ManifestFormat.encode(Manifest.of(ATTEMPT).partitions(4).build());
    bad.put("no-partitions", resealed(changed(empty, count - 8, 0)));
    bad.put("no-room-for-segments", resealed(changed(empty, count - 5, 100)));
    bad.put("runs-too-large", resealed(spliced(empty, count - 7, -120, 1, 0, 0, 0, 0, 0, 0, 0)));
    return bad;
  }

  static String json(Manifest manifest) {
    return "{\"attempt\": \"" + manifest.attempt() + "\", \"host\": \"" + manifest.host()
        + "\", \"compressed\": " + manifest.compressed()
        + ", \"encrypted\": " + manifest.encrypted()
        + ", \"partitions\": " + manifest.partitions() + ", \"runs\": " + manifest.runs()
        + ",\n \"files\": [" + manifest.files().stream()
            .map(file -> "{\"name\": \"" + file.name() + "\", \"length\": " + file.length() + "}")
            .collect(Collectors.joining(", "))
        + "],\n \"segments\": [" + manifest.segments().stream().map(ManifestVectors::json)
            .collect(Collectors.joining(",\n  ")) + "]}\n";
  }

  private static String json(Segment segment) {
    return "{\"partition\": " + segment.partition() + ", \"run\": " + segment.run()
        + ", \"file\": " + segment.file() + ", \"offset\": " + segment.offset()
        + ", \"stored_bytes\": " + segment.storedBytes() + ", \"raw_bytes\": "
        + segment.rawBytes() + ", \"records\": " + segment.records() + ", \"checksums\": "
        + IntStream.range(0, segment.checksumCount())
            .mapToObj(block -> Integer.toUnsignedString(segment.checksum(block)))
            .collect(Collectors.joining(", ", "[", "]")) + "}";
  }

  private static Manifest.Builder packed() {
    return Manifest.of(ATTEMPT).host("vm2").partitions(3).runs(2)
        .files(List.of(new MofFile(ShuffleDirs.PACKED, 90_113)))
        .segments(List.of(new Segment(0, 0, 0, 0, 10, 10, 1, 1),
            new Segment(0, 1, 0, 20_480, 10, 12, 2, 2),
            new Segment(2, 0, 0, 24_576, BLOCK + 1L, 200_000, 4_000, 3, -7)));
  }

  private static byte[] changed(byte[] bytes, int at, int value) {
    byte[] copy = bytes.clone();
    copy[at] = (byte) value;
    return copy;
  }

  private static byte[] spliced(byte[] bytes, int at, int... values) {
    ByteBuffer longer = ByteBuffer.allocate(bytes.length + values.length - 1);
    longer.put(bytes, 0, at);
    for (int value : values) {
      longer.put((byte) value);
    }
    return longer.put(bytes, at + 1, bytes.length - at - 1).array();
  }

  private static byte[] resealed(byte[] bytes) {
    CRC32C crc = new CRC32C();
    int body = bytes.length - Integer.BYTES;
    crc.update(bytes, 0, body);
    ByteBuffer.wrap(bytes).putInt(body, (int) crc.getValue());
    return bytes;
  }
}
