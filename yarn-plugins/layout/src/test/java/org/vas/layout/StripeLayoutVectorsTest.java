package org.vas.layout;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.vas.testing.Repository;

/** Decodes bytes of a real Lustre, with which the Python decoder is tested too. */
class StripeLayoutVectorsTest {
  private static final String VECTORS = "lustre-layout/vectors";

  static List<Path> good() {
    return Repository.files(VECTORS, ".bin");
  }

  static List<Path> bad() {
    return Repository.files(VECTORS + "/bad", ".bin");
  }

  @ParameterizedTest
  @MethodSource("good")
  void goodBytesMeanTheJsonBesideThem(Path file) throws Exception {
    String json = Files.readString(Repository.withEnding(file, ".json"));
    Object expected = new Load(LoadSettings.builder().build()).loadFromString(json);
    assertEquals(LayoutJson.comparable(expected),
        LayoutJson.comparable(LayoutJson.of(StripeLayout.decode(bytes(file)))));
  }

  @ParameterizedTest
  @MethodSource("bad")
  void badBytesAreRefusedWithTheLineBesideThem(Path file) throws IOException {
    String expected = Files.readString(Repository.withEnding(file, ".error")).stripTrailing();
    byte[] bytes = bytes(file);
    LayoutException refused =
        assertThrows(LayoutException.class, () -> StripeLayout.decode(bytes));
    assertEquals(expected, refused.getMessage());
  }

  static Map<String, LayoutRequest> requests() {
    return new TreeMap<>(Map.of(
        "request-specific", LayoutRequest.stripes(1 << 20, 2).osts(3, 1),
        "request-specific-overstriped", LayoutRequest.stripes(1 << 20, 3).osts(0, 0, 1),
        "request-v1", LayoutRequest.stripes(1 << 20, PlainLayout.ALL_OSTS),
        "request-v1-start", LayoutRequest.stripes(64 << 20, 2).startingAt(3),
        "request-v3", LayoutRequest.stripes(128 << 20, 2).pool("fast").startingAt(1)));
  }

  @Test
  void requestsAreTheBytesThatPythonWrites() throws Exception {
    for (Map.Entry<String, LayoutRequest> request : requests().entrySet()) {
      assertArrayEquals(bytes(Repository.path(VECTORS + "/" + request.getKey() + ".bin")),
          request.getValue().encode(), request.getKey());
    }
  }

  // LayoutRequest makes no composites.
  @Test
  void noRequestVectorIsForgotten() {
    List<String> vectors = good().stream().map(file -> String.valueOf(file.getFileName()))
        .filter(name -> name.startsWith("request-") && !name.equals("request-composite.bin"))
        .map(name -> name.replace(".bin", ""))
        .sorted().collect(Collectors.toList());
    assertEquals(vectors, List.copyOf(requests().keySet()));
  }

  private static byte[] bytes(Path file) throws IOException {
    return Files.readAllBytes(file);
  }
}
