package org.vas.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.workloads.data.Generate;

class GenerateTest {
  private static final int BYTES = 60_000;
  private static final int SHARE = BYTES / 3;

  @TempDir
  Path directory;

  @ParameterizedTest
  @CsvSource(delimiter = ';', value = {
    "associations; \\d{7}(,\\d{7}){3}; 33",
    "documents; \\d-\\d+\t[a-z]+( [a-z]+){99,299}; 2200",
    "edges; \\d+\t\\d+; 20"})
  void filesAreOfWholeLinesAndAsLargeAsTheyMayBe(String kind, String line, int longest)
      throws Exception {
    Path made = Generated.files(kind, BYTES, 1, directory);
    List<Path> files = Generated.parts(made);
    assertEquals(3, files.size());
    for (Path file : files) {
      assertTrue(Files.size(file) <= SHARE, file + " is too large");
      assertTrue(Files.size(file) > SHARE - longest, file + " has room for one more");
      assertTrue(Files.readString(file).endsWith("\n"));
    }
    for (String each : Generated.lines(made)) {
      assertTrue(each.matches(line), each);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"associations", "documents", "edges"})
  void theSeedDecidesAndFilesDiffer(String kind) throws Exception {
    List<String> one = contents(Generated.files(kind, BYTES, 1, directory.resolve("one")));
    assertEquals(one, contents(Generated.files(kind, BYTES, 1, directory.resolve("again"))));
    assertEquals(3, new HashSet<>(one).size());
    List<String> all = new ArrayList<>(one);
    all.addAll(contents(Generated.files(kind, BYTES, 2, directory)));
    assertEquals(6, new HashSet<>(all).size());
  }

  @Test
  void itemsAreInOrderAndPrefixesAreSharedAcrossFiles() throws Exception {
    List<String> lines = Generated.lines(Generated.files("associations", BYTES, 1, directory));
    for (String line : lines) {
      String[] items = line.split(",", -1);
      String[] sorted = items.clone();
      Arrays.sort(sorted);
      assertEquals(List.of(sorted), List.of(items));
    }
    Map<String, Long> groups = counted(lines, line -> line.substring(0, line.lastIndexOf(',')));
    assertTrue(groups.size() < lines.size() * 0.6, groups.size() + " of " + lines.size());
    assertTrue(groups.size() > lines.size() * 0.3, groups.size() + " of " + lines.size());
  }

  @Test
  void aFewNodesHaveVeryManyEdges() throws Exception {
    List<String> lines = Generated.lines(Generated.files("edges", BYTES, 1, directory));
    Map<String, Long> edges = counted(lines, line -> line.substring(line.indexOf('\t') + 1));
    long most = edges.values().stream().mapToLong(Long::longValue).max().orElse(0);
    assertTrue(most > 20L * lines.size() / edges.size(), most + " of " + lines.size());
  }

  @Test
  void documentsHaveNamesOfTheirOwn() throws Exception {
    List<String> lines = Generated.lines(Generated.files("documents", BYTES, 1, directory));
    Map<String, Long> names = counted(lines, line -> line.substring(0, line.indexOf('\t')));
    assertEquals(lines.size(), names.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "edges 1k 3 1", "edges 1k 0 1 out", "edges none 3 1 out",
      "edges -1 3 1 out", "lists 1k 3 1 out", "edges 1k 3 one out"})
  void wrongArgumentsAreUsage(String words) throws Exception {
    Generate generate = new Generate();
    generate.setConf(new Configuration());
    assertEquals(2, generate.run(words.isEmpty() ? new String[0] : words.split(" ", -1)));
  }

  private static Map<String, Long> counted(List<String> lines, Function<String, String> key) {
    return lines.stream().collect(Collectors.groupingBy(key, Collectors.counting()));
  }

  private static List<String> contents(Path made) throws IOException {
    List<String> contents = new ArrayList<>();
    for (Path file : Generated.parts(made)) {
      contents.add(Files.readString(file));
    }
    return contents;
  }
}
