package org.vas.shuffle.mof;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The files that the Python reader is tested with too: bytes, and what they mean. Those of version 1
 * are what releases with version 1 wrote, and stay as they are. -Dvas.vectors.write=true writes
 * those of version 2 again instead of comparing.
 */
class ManifestVectorsTest {
  private static final Path VECTORS = Path.of(System.getProperty("basedir", ""))
      .toAbsolutePath().resolve("vectors");

  @Test
  void manifestsAreTheBytesAndTheJsonBesideThem() throws IOException {
    for (Map.Entry<String, Manifest> vector : ManifestVectors.good().entrySet()) {
      Path file = VECTORS.resolve("v2/" + vector.getKey() + ".bin");
      byte[] bytes = kept(file, ManifestFormat.encode(vector.getValue()));
      assertArrayEquals(ManifestFormat.encode(vector.getValue()), bytes, file::toString);
      String json = ManifestVectors.json(ManifestFormat.decode(bytes));
      Path text = VECTORS.resolve("v2/" + vector.getKey() + ".json");
      assertEquals(json, new String(kept(text, json.getBytes(UTF_8)), UTF_8));
    }
  }

  @Test
  void badBytesAreRefusedWithTheLineBesideThem() throws IOException {
    for (Map.Entry<String, byte[]> vector : ManifestVectors.bad().entrySet()) {
      byte[] bytes =
          kept(VECTORS.resolve("v2/bad/" + vector.getKey() + ".bin"), vector.getValue());
      assertArrayEquals(vector.getValue(), bytes, vector::getKey);
      String message = assertThrows(ManifestException.class, () -> ManifestFormat.decode(bytes),
          vector::getKey).getMessage() + "\n";
      Path text = VECTORS.resolve("v2/bad/" + vector.getKey() + ".error");
      assertEquals(message, new String(kept(text, message.getBytes(UTF_8)), UTF_8));
    }
  }

  @Test
  void P1_version1IsStillRead() throws IOException {
    for (Map.Entry<String, Manifest> vector : ManifestVectors.good().entrySet()) {
      byte[] bytes = Files.readAllBytes(VECTORS.resolve("v1/" + vector.getKey() + ".bin"));
      String json = Files.readString(VECTORS.resolve("v1/" + vector.getKey() + ".json"));
      assertEquals(json, ManifestVectors.json(ManifestFormat.decode(bytes)));
      assertEquals(json, Files.readString(VECTORS.resolve("v2/" + vector.getKey() + ".json")));
      assertArrayEquals(bytes, ManifestV1Bytes.encode(vector.getValue()), "the tests' writer");
    }
  }

  @Test
  void P1_badBytesOfVersion1AreRefusedAsEver() throws IOException {
    int refused = 0;
    try (DirectoryStream<Path> errors =
        Files.newDirectoryStream(VECTORS.resolve("v1/bad"), "*.error")) {
      for (Path error : errors) {
        byte[] bytes = Files.readAllBytes(
            Path.of(error.toString().replaceFirst("error$", "bin")));
        for (int partition : new int[] {ManifestV1.ALL, 0}) {
          assertEquals(Files.readString(error), assertThrows(ManifestException.class,
              () -> ManifestV1.decode(bytes, partition), error::toString).getMessage() + "\n");
        }
        assertThrows(ManifestException.class, () -> ManifestFormat.decode(bytes));
        refused++;
      }
    }
    assertEquals(10, refused);
  }

  @Test
  void P1_anOldReaderRefusesVersion2Clearly() throws IOException {
    for (Manifest each : ManifestVectors.good().values()) {
      byte[] bytes = ManifestFormat.encode(each);
      assertEquals("version 2, known is 1", assertThrows(ManifestException.class,
          () -> ManifestV1.decode(bytes, 0)).getMessage());
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
