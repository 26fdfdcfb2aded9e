package org.vas.shuffle.mof;

import java.io.IOException;

/**
 * Encodes a manifest as bytes and decodes it, by the tables of docs/manifest.md. Version 2 is
 * written; versions 1 and 2 are read.
 */
public final class ManifestFormat {
  private ManifestFormat() {}

  /** Returns the bytes of a manifest, in version 2. */
  public static byte[] encode(Manifest manifest) throws IOException {
    return ManifestV2Writer.encode(manifest);
  }

  /**
   * Decodes a whole manifest of either version and verifies all of it. Allocates no more than a
   * small multiple of the length of {@code bytes}, whatever they say.
   *
   * @throws ManifestException that says what is wrong with the bytes
   */
  public static Manifest decode(byte[] bytes) throws ManifestException {
    return ManifestBytes.decoding(() -> {
      ManifestBytes.checkSeal(bytes);
      int version = ManifestBytes.version(bytes, bytes.length - ManifestBytes.CHECKSUM);
      switch (version) {
        case ManifestV1.VERSION:
          return ManifestV1.read(bytes, ManifestV1.ALL);
        case ManifestV2.VERSION:
          return ManifestV2.read(bytes);
        default:
          throw unknown(version);
      }
    });
  }

  /** Returns the exception for an unknown version; it names the versions that this reader knows. */
  static ManifestException unknown(int version) {
    return new ManifestException("version " + version + ", known are " + ManifestV1.VERSION
        + " and " + ManifestV2.VERSION);
  }
}
