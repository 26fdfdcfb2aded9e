package org.vas.shuffle.mof;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;

/** Encodes manifests as releases with version 1 did, for jobs that run during an upgrade. */
public final class ManifestV1Bytes {
  private ManifestV1Bytes() {}

  /** Returns the bytes of a manifest, in version 1. */
  public static byte[] encode(Manifest manifest) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(ManifestBytes.MAGIC);
    out.writeByte(ManifestV1.VERSION);
    out.writeByte(ManifestBytes.flags(manifest));
    Text.writeString(out, manifest.attempt());
    Text.writeString(out, manifest.host());
    WritableUtils.writeVInt(out, manifest.partitions());
    WritableUtils.writeVInt(out, manifest.runs());
    WritableUtils.writeVInt(out, manifest.files().size());
    for (MofFile file : manifest.files()) {
      ManifestBytes.writeFile(out, file);
    }
    WritableUtils.writeVInt(out, manifest.segments().size());
    for (Segment segment : manifest.segments()) {
      WritableUtils.writeVInt(out, segment.partition());
      ManifestBytes.writeSegment(out, segment, segment.file());
    }
    out.writeInt(ManifestBytes.crc(bytes.toByteArray(), 0, bytes.size()));
    return bytes.toByteArray();
  }
}
