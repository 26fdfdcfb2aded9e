package org.vas.workloads;

import static java.util.stream.Collectors.toList;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.vas.workloads.heavy.AdjacencyList;
import org.vas.workloads.heavy.InvertedIndex;
import org.vas.workloads.heavy.SelfJoin;
import org.vas.workloads.heavy.SequenceCount;
import org.vas.workloads.tool.OneJob;
import org.vas.workloads.words.Grep;
import org.vas.workloads.words.PlainWordCount;

/**
 * Runs the four jobs of {@code heavy} in one process, and compares them with a plain computation.
 */
class HeavyTest {
  private static final int REDUCERS = 3;

  @TempDir
  Path directory;

  @Test
  void selfJoinOfMadeLines() throws Exception {
    Path input = Generated.files("associations", 60_000, 1, directory);
    List<String> expected = joined(Generated.lines(input));
    assertTrue(expected.size() > 1000, "lines: " + expected.size());
    assertEquals(expected, run(new SelfJoin(), input));
  }

  @Test
  void selfJoinDropsRepeatsAndEmptyLinesAndTakesSingleItems() throws Exception {
    Path input = written("a,b,c\n\na,b,d\na,b,c\na,c,d\nx\n", "a,b,e\ny\na,b,d\nx\n");
    assertEquals(List.of("a,b,c,d", "a,b,c,e", "a,b,d,e", "x,y"), run(new SelfJoin(), input));
  }

  @Test
  void invertedIndexOfMadeDocuments() throws Exception {
    Path input = Generated.files("documents", 100_000, 1, directory);
    assertEquals(indexed(Generated.lines(input)), run(new InvertedIndex(), input));
  }

  @Test
  void invertedIndexNamesADocumentOnce() throws Exception {
    Path input = written("one\tb a  b\nempty\t\n", "two\ta c\nthree\ta\none\ta d\n");
    assertEquals(List.of("a\tone,three,two", "b\tone", "c\ttwo", "d\tone"),
        run(new InvertedIndex(), input));
  }

  @Test
  void sequenceCountOfMadeDocuments() throws Exception {
    Path input = Generated.files("documents", 100_000, 1, directory);
    List<String> expected = counted(Generated.lines(input));
    assertTrue(expected.stream().anyMatch(line -> !line.endsWith("\t1")), "nothing is repeated");
    assertEquals(expected, run(new SequenceCount(), input));
  }

  @Test
  void sequenceCountStaysWithinADocument() throws Exception {
    Path input = written("one\ta b a b a b\nshort\ta b\n", "two\ta b a\n");
    assertEquals(List.of("a|b|a|one\t2", "a|b|a|two\t1", "b|a|b|one\t2"),
        run(new SequenceCount(), input));
  }

  @Test
  void adjacencyListOfMadeEdges() throws Exception {
    Path input = Generated.files("edges", 60_000, 1, directory);
    assertEquals(neighbours(Generated.lines(input)), run(new AdjacencyList(), input));
  }

  @Test
  void adjacencyListHasBothDirectionsAndEdgesToOneself() throws Exception {
    Path input = written("1\t2\n1\t2\n3\t1\n", "10\t2\n1\t2\n4\t4\n");
    assertEquals(List.of("1\t3\t2", "10\t\t2", "2\t1,10\t", "3\t\t1", "4\t4\t4"),
        run(new AdjacencyList(), input));
  }

  @Test
  void aLineThatIsNoEdgeIsNamed() throws Exception {
    Path input = written("1\t2\n3 4\n");
    IOException wrong = assertThrows(IOException.class, () -> run(new AdjacencyList(), input));
    assertEquals("'3 4' is not an edge; write FROM, a tab, and TO", wrong.getMessage());
  }

  @Test
  void grepCountsWhatMatches() throws Exception {
    Path input = written("unfit fit unfit\nrun\n", "unfair un5\n");
    assertEquals(List.of("un\t2", "unfair\t1", "unfit\t2"), run(new Grep(), input));
  }

  static Stream<OneJob> combining() {
    return Stream.of(new InvertedIndex(), new SequenceCount(), new AdjacencyList());
  }

  @ParameterizedTest
  @MethodSource("combining")
  void outputIsTheSameWithoutCombiner(OneJob program) throws Exception {
    String kind = program instanceof AdjacencyList ? "edges" : "documents";
    Path input = Generated.files(kind, 100_000, 1, directory);
    Ran with = OneProcess.run(job(program, input, "with"), directory.resolve("with"), true);
    JobConf plain = job(program, input, "without");
    plain.unset(MRJobConfig.COMBINE_CLASS_ATTR);
    Ran without = OneProcess.run(plain, directory.resolve("without"), true);
    assertEquals(without.output(), with.output());
    assertEquals(REDUCERS, with.output().size());
    assertTrue(with.of(TaskCounter.REDUCE_INPUT_RECORDS)
        < without.of(TaskCounter.REDUCE_INPUT_RECORDS), "nothing was combined");
  }

  static Stream<OneJob> programs() {
    return Stream.concat(combining(), Stream.of(new SelfJoin(), new Grep(), new PlainWordCount()));
  }

  @ParameterizedTest
  @MethodSource("programs")
  void otherArgumentsThanTwoAreUsage(OneJob program) throws Exception {
    assertEquals(2, program.run(new String[] {"input"}));
    assertEquals(2, program.run(new String[] {"input", "output", "more"}));
  }

  private static List<String> joined(List<String> lines) {
    Map<String, SortedSet<String>> lasts = new TreeMap<>();
    for (String line : lines) {
      int cut = line.lastIndexOf(',') + 1;
      add(lasts, line.substring(0, cut), line.substring(cut));
    }
    List<String> joined = new ArrayList<>();
    lasts.forEach((first, items) -> items.forEach(one -> items.tailSet(one).stream().skip(1)
        .forEach(other -> joined.add(first + one + "," + other))));
    return sorted(joined);
  }

  private static List<String> indexed(List<String> lines) {
    Map<String, SortedSet<String>> documents = new TreeMap<>();
    for (String line : lines) {
      int tab = line.indexOf('\t');
      for (String word : line.substring(tab + 1).split(" ", -1)) {
        add(documents, word, line.substring(0, tab));
      }
    }
    return sorted(documents.keySet().stream()
        .map(word -> word + "\t" + String.join(",", documents.get(word))).collect(toList()));
  }

  private static List<String> counted(List<String> lines) {
    Map<String, Integer> counts = new TreeMap<>();
    for (String line : lines) {
      int tab = line.indexOf('\t');
      String[] words = line.substring(tab + 1).split(" ", -1);
      for (int i = 0; i + 2 < words.length; i++) {
        String name = line.substring(0, tab);
        counts.merge(String.join("|", words[i], words[i + 1], words[i + 2], name), 1, Integer::sum);
      }
    }
    return sorted(counts.keySet().stream().map(three -> three + "\t" + counts.get(three))
        .collect(toList()));
  }

  private static List<String> neighbours(List<String> lines) {
    Map<String, SortedSet<String>> from = new TreeMap<>();
    Map<String, SortedSet<String>> to = new TreeMap<>();
    for (String line : lines) {
      String[] ends = line.split("\t", -1);
      add(to, ends[0], ends[1]);
      add(from, ends[1], ends[0]);
    }
    SortedSet<String> nodes = new TreeSet<>(from.keySet());
    nodes.addAll(to.keySet());
    return sorted(nodes.stream()
        .map(node -> node + "\t" + text(from.get(node)) + "\t" + text(to.get(node)))
        .collect(toList()));
  }

  private static String text(SortedSet<String> names) {
    return names == null ? "" : String.join(",", names);
  }

  private static void add(Map<String, SortedSet<String>> sets, String key, String value) {
    sets.computeIfAbsent(key, none -> new TreeSet<>()).add(value);
  }

  private static List<String> sorted(Collection<String> lines) {
    return lines.stream().sorted().collect(toList());
  }

  private Path written(String... files) throws IOException {
    Path input = Files.createDirectories(directory.resolve("written"));
    for (int file = 0; file < files.length; file++) {
      Files.writeString(input.resolve("in" + file), files[file]);
    }
    return input;
  }

  private List<String> run(OneJob program, Path input) throws Exception {
    OneProcess.run(job(program, input, "run"), directory.resolve("run"), true);
    return sorted(Generated.lines(directory.resolve("run/output")));
  }

  /** With a sort buffer that the larger inputs fill more than once. */
  private JobConf job(OneJob program, Path input, String name) throws IOException {
    program.setConf(new Configuration());
    Path output = directory.resolve(name).resolve("output");
    Job job = program.job(new org.apache.hadoop.fs.Path(input.toUri()),
        new org.apache.hadoop.fs.Path(output.toUri()));
    job.setNumReduceTasks(REDUCERS);
    job.getConfiguration().setInt(MRJobConfig.IO_SORT_MB, 1);
    return new JobConf(job.getConfiguration());
  }
}
