package org.vas.shuffle.mof;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Encodes a manifest in version 2. */
final class ManifestV2Writer {
  private final Manifest manifest;
  private final int flags;
  private final ByteBuffer index;
  private final ByteArrayOutputStream blocks = new ByteArrayOutputStream();
  private long sharedOffset;
  private int sharedLength;

  private ManifestV2Writer(Manifest manifest) {
    this.manifest = manifest;
    this.flags = ManifestBytes.flags(manifest);
    this.index =
        ByteBuffer.allocate(Math.toIntExact(IndexRecord.place(manifest.partitions())));
  }

  /** Returns the bytes of a manifest. */
  static byte[] encode(Manifest manifest) throws IOException {
    return new ManifestV2Writer(manifest).encode();
  }

  private byte[] encode() throws IOException {
    index.putInt(ManifestBytes.MAGIC).putInt(ManifestV2.VERSION << 24);
    add(IndexRecord.SUMMARY, ManifestBlock.summary(manifest));
    List<Segment> all = manifest.segments();
    int from = 0;
    for (int partition = 0; partition < manifest.partitions(); partition++) {
      int to = from;
      while (to < all.size() && all.get(to).partition() == partition) {
        to++;
      }
      if (to == from) {
        addEmpty(partition);
      } else {
        add(partition, ManifestBlock.encode(manifest, partition, all.subList(from, to)));
      }
      from = to;
    }
    return sealed();
  }

  private void add(int number, byte[] block) {
    index.put(IndexRecord.encode(flags, number, nextOffset(), block.length));
    blocks.writeBytes(block);
  }

  // One block for all of them: a job with many partitions and few records has small manifests.
  private void addEmpty(int partition) throws IOException {
    if (sharedLength == 0) {
      byte[] block = ManifestBlock.encode(manifest, ManifestBlock.NONE, List.of());
      sharedOffset = nextOffset();
      sharedLength = block.length;
      blocks.writeBytes(block);
    }
    index.put(IndexRecord.encode(flags, partition, sharedOffset, sharedLength));
  }

  private long nextOffset() {
    return index.capacity() + (long) blocks.size();
  }

  private byte[] sealed() {
    int body = index.capacity() + blocks.size();
    byte[] all = new byte[body + ManifestBytes.CHECKSUM];
    ByteBuffer out = ByteBuffer.wrap(all).put(index.flip()).put(blocks.toByteArray());
    out.putInt(ManifestBytes.crc(all, 0, body));
    return all;
  }
}
