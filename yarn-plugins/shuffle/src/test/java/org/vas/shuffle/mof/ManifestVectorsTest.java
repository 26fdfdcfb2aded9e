package org.vas.shuffle.mof;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The files that the Python reader is tested with too: bytes, and what they mean.
 * -Dvas.vectors.write=true writes them anew instead of comparing.
 */
class ManifestVectorsTest {
  private static final Path VECTORS = Path.of(System.getProperty("basedir", ""))
      .toAbsolutePath().resolve("vectors");

  @Test
  void manifestsAreTheBytesAndTheJsonBesideThem() throws IOException {
    for (Map.Entry<String, Manifest> vector : ManifestVectors.good().entrySet()) {
      Path file = VECTORS.resolve(vector.getKey() + ".bin");
      byte[] bytes = kept(file, ManifestFormat.encode(vector.getValue()));
      assertArrayEquals(ManifestFormat.encode(vector.getValue()), bytes, file::toString);
      String json = ManifestVectors.json(ManifestFormat.decode(bytes));
      Path text = VECTORS.resolve(vector.getKey() + ".json");
      assertEquals(json, new String(kept(text, json.getBytes(UTF_8)), UTF_8));
    }
  }

  @Test
  void badBytesAreRefusedWithTheLineBesideThem() throws IOException {
    for (Map.Entry<String, byte[]> vector : ManifestVectors.bad().entrySet()) {
      byte[] bytes = kept(VECTORS.resolve("bad/" + vector.getKey() + ".bin"), vector.getValue());
      assertArrayEquals(vector.getValue(), bytes, vector::getKey);
      String message = assertThrows(ManifestException.class, () -> ManifestFormat.decode(bytes),
          vector::getKey).getMessage() + "\n";
      assertEquals(message, assertThrows(ManifestException.class,
          () -> ManifestFormat.decode(bytes, 0), vector::getKey).getMessage() + "\n");
      Path text = VECTORS.resolve("bad/" + vector.getKey() + ".error");
      assertEquals(message, new String(kept(text, message.getBytes(UTF_8)), UTF_8));
    }
  }

  private static byte[] kept(Path file, byte[] made) throws IOException {
    if (Boolean.getBoolean("vas.vectors.write")) {
      Files.createDirectories(file.getParent());
      Files.write(file, made);
    }
    return Files.readAllBytes(file);
  }
}
