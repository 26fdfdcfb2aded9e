package org.vas.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.mapreduce.TaskCounter;

/** The output and the counters of a job that has run. */
final class Ran {
  final Counted maps;
  final Counted reduces;
  private final Map<String, String> output = new TreeMap<>();

  Ran(Master master, Path outputDirectory) throws IOException {
    maps = master.maps;
    reduces = master.reduces;
    try (Stream<Path> files = Files.list(outputDirectory)) {
      for (Path file : files.filter(f -> f.getFileName().toString().startsWith("part-"))
          .collect(Collectors.toList())) {
        output.put(file.getFileName().toString(), digest(file));
      }
    }
  }

  private static String digest(Path file) throws IOException {
    return Base64.getEncoder().encodeToString(
        MD5Hash.digest(Files.readAllBytes(file)).getDigest());
  }

  /** Returns the MD5 digest of each output file, by its name. */
  Map<String, String> output() {
    return output;
  }

  /** Returns the sum of a counter over all maps and reduces. */
  long of(TaskCounter name) {
    return maps.of(name) + reduces.of(name);
  }

  Map<String, Long> of(List<TaskCounter> names) {
    Map<String, Long> values = new TreeMap<>();
    names.forEach(name -> values.put(name.name(), of(name)));
    return values;
  }
}
