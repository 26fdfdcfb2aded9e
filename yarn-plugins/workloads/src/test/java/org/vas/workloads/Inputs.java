package org.vas.workloads;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Makes an input of three files for the programs that read one; the same on each call. */
final class Inputs {
  private static final int FILES = 3;
  private static final int TERA_KEY = 10;
  private static final int TERA_VALUE = 90;

  private Inputs() {}

  /** Words, of which many are alike. */
  static Path words(Path directory) throws IOException {
    return write(directory, 2000, random -> "w" + random.nextInt(1 << random.nextInt(1, 12)) + " w"
        + random.nextInt(50) + "\n");
  }

  /** Pairs of numbers, as SecondarySort reads them. */
  static Path pairs(Path directory) throws IOException {
    return write(directory, 2000, random ->
        random.nextInt(-50, 50) + " " + random.nextInt(-9000, 9000) + "\n");
  }

  /** Keys and values with a tab between them. */
  static Path keysAndValues(Path directory) throws IOException {
    return write(directory, 2000, random ->
        Long.toString(random.nextLong(), 36) + "\t" + random.nextInt() + "\n");
  }

  /** TeraSort's rows of 100 bytes. */
  static Path rows(Path directory) throws IOException {
    return write(directory, 2000, random -> letters(random, TERA_KEY) + letters(random, TERA_VALUE));
  }

  private static String letters(SplittableRandom random, int count) {
    return IntStream.range(0, count).mapToObj(i -> "" + (char) random.nextInt(' ', '~'))
        .collect(Collectors.joining());
  }

  private static Path write(Path directory, int lines, Function<SplittableRandom, String> line)
      throws IOException {
    Files.createDirectories(directory);
    for (int file = 0; file < FILES; file++) {
      SplittableRandom random = new SplittableRandom(file);
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < lines; i++) {
        text.append(line.apply(random));
      }
      Files.write(directory.resolve("in" + file), text.toString().getBytes(StandardCharsets.UTF_8));
    }
    return directory;
  }
}
