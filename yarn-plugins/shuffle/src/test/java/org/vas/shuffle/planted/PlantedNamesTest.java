package org.vas.shuffle.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.vas.filesystem.PredictableNames;
import org.vas.filesystem.TreeRemover;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * Puts everything that can be planted at every name that can be guessed. A FIFO must block nobody.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlantedNamesTest {
  private static final String ATTEMPT = "attempt_1_0001_m_000000_0";
  private static final List<String> DIRECTORIES =
      List.of("u", PredictableNames.STAGING, "job_1_0001", PredictableNames.SHUFFLE, ATTEMPT);

  @TempDir
  private Path root;

  private Path victim;
  private Path attempt;

  @BeforeEach
  void tree() throws IOException {
    victim = Files.writeString(
        Files.createDirectory(root.resolve("victim")).resolve("precious"), "precious");
    attempt = Files.createDirectories(root.resolve(String.join("/", DIRECTORIES)));
  }

  static Stream<Arguments> files() {
    return Stream.of("lustre:///", "file:///").flatMap(uri ->
        PredictableNames.filesOfAttempts().stream().flatMap(name ->
            Stream.of(Planted.values()).map(planted -> Arguments.of(uri, name, planted))));
  }

  static Stream<Arguments> directories() {
    return Stream.of("lustre:///", "file:///").flatMap(uri ->
        Stream.of(3, 4).flatMap(depth -> Stream.of(Planted.values())
            .filter(planted -> planted != Planted.DIRECTORY)
            .map(planted -> Arguments.of(uri, depth, planted))));
  }

  static Stream<Arguments> levels() {
    return Stream.of(1, 2, 3).flatMap(depth -> Stream.of(Planted.values())
        .filter(planted -> planted != Planted.DIRECTORY)
        .map(planted -> Arguments.of(depth, planted)));
  }

  private ShuffleFiles files(String uri) throws IOException {
    Configuration conf = new Configuration();
    conf.set("vas.lustre.mount", root.toString());
    conf.set("vas.locations", "none");
    conf.setBoolean("vas.layout.required", false);
    return new ShuffleFiles(FileSystem.newInstance(URI.create(uri), conf), operation -> {});
  }

  private org.apache.hadoop.fs.Path path(String uri, Path file) {
    return new org.apache.hadoop.fs.Path(
        uri.startsWith("file") ? "file://" + file : "lustre:///" + root.relativize(file));
  }

  private void refused(Path planted, Executable call) throws IOException {
    String message = assertThrows(IOException.class, call).getMessage();
    assertTrue(message.contains(String.valueOf(planted.getFileName())), message);
    assertEquals("precious", Files.readString(victim));
    try (Stream<Path> beside = Files.list(victim.getParent())) {
      assertEquals(1, beside.count(), "something was made next to the victim");
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void D3_neitherMakesNorOpensWhatIsPlanted(String uri, String name, Planted planted)
      throws IOException {
    ShuffleFiles fs = files(uri);
    Path file = attempt.resolve(name);
    planted.at(file, victim);
    refused(file, () -> fs.createPrivate(path(uri, file), 4096).close());
    refused(file, () -> fs.open(path(uri, file)).close());
    refused(file, () -> fs.append(path(uri, file), 4096, null).close());
  }

  @ParameterizedTest
  @MethodSource("directories")
  void D3_neitherMakesNorEntersADirectoryThatIsPlanted(String uri, int depth, Planted planted)
      throws IOException {
    ShuffleFiles fs = files(uri);
    Path directory = root.resolve(String.join("/", DIRECTORIES.subList(0, depth + 1)));
    new TreeRemover(16).empty(root, DIRECTORIES.subList(0, depth));
    planted.at(directory, victim);
    refused(directory, () -> fs.makeDirectory(path(uri, directory)));
    Path below = depth == 4 ? directory : directory.resolve(ATTEMPT);
    refused(victim, () -> {
      try {
        fs.open(path(uri, below.resolve(victim.getFileName()))).close();
      } catch (IOException e) {
        throw new IOException(victim.getFileName() + ": " + e.getMessage(), e);
      }
    });
  }

  @ParameterizedTest
  @MethodSource("levels")
  void D3_theNodeServiceEntersNothingThatIsPlanted(int depth, Planted planted)
      throws IOException {
    Path directory = root.resolve(String.join("/", DIRECTORIES.subList(0, depth + 1)));
    new TreeRemover(16).empty(root, DIRECTORIES.subList(0, depth));
    planted.at(directory, victim);
    refused(directory, () -> new TreeRemover(16).empty(root, DIRECTORIES.subList(0, 4)));
  }

  @ParameterizedTest
  @MethodSource("files")
  void D3_whatIsPlantedIsRemovedItself(String uri, String name, Planted planted)
      throws IOException {
    planted.at(attempt.resolve(name), victim);
    new TreeRemover(16).empty(root, DIRECTORIES.subList(0, 4));
    assertFalse(Files.exists(attempt));
    assertEquals("precious", Files.readString(victim));
  }
}
