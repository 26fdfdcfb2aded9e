package org.vas.shuffle.mof;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.vas.shuffle.mof.SealedBytes.changed;
import static org.vas.shuffle.mof.SealedBytes.inBlock;
import static org.vas.shuffle.mof.SealedBytes.inRecord;
import static org.vas.shuffle.mof.SealedBytes.sealed;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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

  /** Bytes of version 2 that every reader of the whole refuses. */
  static Map<String, byte[]> bad() throws IOException {
    byte[] whole = ManifestFormat.encode(packed().build());
    Map<String, byte[]> bad = new LinkedHashMap<>();
    bad.put("nothing", new byte[0]);
    bad.put("cut", Arrays.copyOf(whole, whole.length - 9));
    bad.put("flipped", changed(whole, 60, whole[60] ^ 1));
    bad.put("other-magic", sealed(changed(whole, 0, 'W')));
    bad.put("other-version", sealed(changed(whole, 4, 3)));
    bad.put("reserved-byte", sealed(changed(whole, 7, 1)));
    bad.put("a-byte-too-many", sealed(Arrays.copyOf(whole, whole.length + 1)));
    bad.put("cut-index", sealed(Arrays.copyOf(whole, 80)));
    putBadRecords(bad, whole);
    putBadBlocks(bad, whole);
    return bad;
  }

  private static void putBadRecords(Map<String, byte[]> bad, byte[] whole) throws IOException {
    bad.put("record-checksum", sealed(changed(whole, 8 + 32, 'j')));
    byte[] kind = whole.clone();
    System.arraycopy("raw\0\0".getBytes(ISO_8859_1), 0, kind, 8 + 2 * 32, 5);
    bad.put("kind-raw", sealed(sealed(kind, 8 + 2 * 32, 32)));
    bad.put("kind-no-name", inRecord(whole, 0, 0, 200));
    bad.put("record-version", inRecord(whole, 1, 8, 7));
    bad.put("unknown-flag", inRecord(whole, -1, 11, 4));
    bad.put("other-flags", inRecord(whole, 2, 11, 1));
    bad.put("record-of-another", inRecord(whole, 1, 15, 0));
    bad.put("block-elsewhere", inRecord(whole, 0, 23, 1));
    bad.put("block-of-no-length", inRecord(whole, 0, 27, 3));
    bad.put("block-of-two-gigabytes", inRecord(whole, 0, 24, 127));
    bad.put("block-of-another-partition", swapped());
  }

  private static void putBadBlocks(Map<String, byte[]> bad, byte[] whole) throws IOException {
    int partitions = 1 + ATTEMPT.length() + 1 + "vm2".length();
    bad.put("block-checksum", sealed(changed(whole, whole.length - 9, 200)));
    bad.put("block-of-another-attempt", inBlock(whole, 2, 5, 'x'));
    bad.put("no-partitions", inBlock(whole, -1, partitions, 0));
    bad.put("more-partitions", inBlock(whole, -1, partitions, 4));
    bad.put("other-runs", inBlock(whole, 0, partitions + 1, 3));
    bad.put("no-room-for-files", inBlock(whole, 0, partitions + 3, 100));
    bad.put("other-file", inBlock(whole, 0, partitions + 6, 'P'));
    bad.put("file-of-no-number", inBlock(whole, 0, partitions + 4, 9));
    int segments = partitions + 5 + 1 + ShuffleDirs.PACKED.length() + 4;
    bad.put("no-room-for-segments", inBlock(whole, 0, segments, 100));
    bad.put("segment-of-no-run", inBlock(whole, 0, segments + 1, 5));
    bad.put("segment-in-no-file", inBlock(whole, 0, segments + 2, 1));
    bad.put("no-room-for-checksums", inBlock(whole, 2, segments + 6, -116));
  }

  /** The last two blocks have the same length, and each is where the other has to be. */
  private static byte[] swapped() throws IOException {
    Manifest two = Manifest.of(ATTEMPT).partitions(2).runs(1)
        .files(List.of(new MofFile("packed.mof", 20)))
        .segments(List.of(new Segment(0, 0, 0, 0, 10, 10, 1, 1),
            new Segment(1, 0, 0, 10, 10, 10, 1, 2)))
        .build();
    byte[] bytes = ManifestFormat.encode(two);
    int length = ByteBuffer.wrap(bytes).getInt(8 + 32 + 24);
    int first = (int) ByteBuffer.wrap(bytes).getLong(8 + 32 + 16);
    byte[] copy = bytes.clone();
    System.arraycopy(bytes, first, copy, first + length, length);
    System.arraycopy(bytes, first + length, copy, first, length);
    return sealed(copy);
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

  static String json(Segment segment) {
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
}
