package org.vas.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.vas.workloads.data.Generate;

/** Makes files by the project's generator, and reads back the files of jobs. */
final class Generated {
  private Generated() {}

  /** Makes three files, so many bytes in all, below the directory. */
  static Path files(String kind, int bytes, int seed, Path directory) throws Exception {
    Path output = directory.resolve(kind + "-" + seed);
    Generate generate = new Generate();
    generate.setConf(new Configuration());
    JobConf job = new JobConf(generate.job(kind, Integer.toString(bytes), "3",
        Integer.toString(seed), output.toUri().toString()).getConfiguration());
    OneProcess.run(job, directory.resolve("generator-of-" + kind + "-" + seed), true);
    return output;
  }

  /** What is in a directory and no mark, in the order of names. */
  static List<Path> parts(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.getFileName().toString().matches("[a-z].*")).sorted()
          .collect(Collectors.toList());
    }
  }

  /** All lines of all files, in the order of names. */
  static List<String> lines(Path directory) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : parts(directory)) {
      lines.addAll(Files.readAllLines(file));
    }
    return lines;
  }
}
