package org.vas.shuffle.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The names of {@code PredictableNames} are made there and nowhere else. */
class OneClassMakesNamesTest {
  // Literals that are a name or make one; keys of configurations and patterns have other shapes.
  private static final Pattern MAKES_A_NAME = Pattern.compile(
      "\"([^\" ]*\\.mof|\\.vas-[^\" ]*|manifest[^\" ]*|shuffle|\\.staging|pass-[^\" ]*"
      + "|packed\\.[^\" ]*|\\.tmp|[^\" ]*\\.(tmp|part|lock|journal|claim))\"");

  @Test
  void D3_noOtherLiteralInTheSourcesMakesAName() throws IOException {
    List<String> found = sources().stream().flatMap(OneClassMakesNamesTest::namesIn)
        .collect(Collectors.toList());
    assertEquals(List.of(), found.stream().filter(each -> !each.startsWith("PredictableNames"))
        .collect(Collectors.toList()), "make the name in PredictableNames");
    assertTrue(found.size() >= 7, "the pattern still finds the names themselves: " + found);
  }

  // workloads are measuring programs of users, who name their own files.
  private static List<Path> sources() throws IOException {
    try (Stream<Path> all = Files.walk(Path.of("..").toAbsolutePath().normalize())) {
      return all.filter(file -> file.toString().endsWith(".java"))
          .filter(file -> file.toString().contains("/src/main/"))
          .filter(file -> !file.toString().contains("/workloads/"))
          .collect(Collectors.toList());
    }
  }

  private static Stream<String> namesIn(Path source) {
    try {
      return MAKES_A_NAME.matcher(Files.readString(source)).results()
          .map(match -> source.getFileName() + ": " + match.group());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
