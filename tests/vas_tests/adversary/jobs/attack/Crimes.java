package attack;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;

/** Maps whose first attempts do what their input file is called, and then go on. */
final class Crimes {
  private Crimes() {}

  static void prepare(Job job) {
    job.setMapperClass(Criminal.class);
    job.setReducerClass(Word.Digest.class);
  }

  /** Emits lines; in attempt 0 the crime comes amid them. */
  public static final class Criminal extends Mapper<LongWritable, Text, Text, IntWritable> {
    private final List<Text> lines = new ArrayList<>();

    @Override
    protected void map(LongWritable at, Text line, Context context) {
      lines.add(new Text(line));
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      List<Text> first = lines.subList(0, lines.size() / 2);
      List<Text> rest = lines.subList(lines.size() / 2, lines.size());
      String crime = ((FileSplit) context.getInputSplit()).getPath().getName();
      emit(context, first);
      boolean threads = crime.equals("threads");
      if (!threads && context.getTaskAttemptID().getId() == 0) {
        commit(crime, context);
      }
      if (threads) {
        inThreads(context, rest);
      } else {
        emit(context, rest);
      }
    }
  }

  private static void emit(Mapper<?, ?, Text, IntWritable>.Context context, List<Text> lines)
      throws IOException, InterruptedException {
    for (Text line : lines) {
      context.write(line, new IntWritable(1));
    }
  }

  private static void inThreads(Mapper<?, ?, Text, IntWritable>.Context context, List<Text> lines)
      throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      threads.add(new Thread(() -> {
        try {
          for (int line = number; line < lines.size(); line += 4) {
            context.write(lines.get(line), new IntWritable(1));
          }
        } catch (IOException | InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void commit(String crime, Mapper<?, ?, Text, IntWritable>.Context context)
      throws IOException {
    Path shuffle = Attack.jobDirectory(context.getConfiguration()).resolve("shuffle");
    Path victim = Path.of(context.getConfiguration().get("attack.victim"));
    Path own = shuffle.resolve(context.getTaskAttemptID().toString());
    switch (crime) {
      case "exit" -> System.exit(0);
      case "delete" -> remove(own);
      case "manifest" -> Files.createSymbolicLink(own.resolve("manifest.tmp"), victim);
      case "hard" -> Files.createLink(own.resolve("packed.mof"), victim);
      case "next" -> plant(shuffle, context.getTaskAttemptID(), victim);
      default -> throw new IOException("no such crime: " + crime);
    }
  }

  // In the directory of the next attempt, and in that of the reducer's first.
  private static void plant(Path shuffle, TaskAttemptID attempt, Path victim) throws IOException {
    Path next = Files.createDirectory(
        shuffle.resolve(new TaskAttemptID(attempt.getTaskID(), 1).toString()));
    Path reducer = Files.createDirectory(shuffle.resolve(
        attempt.toString().replaceFirst("_m_\\d+_0$", "_r_000000_0")));
    for (Path directory : new Path[] {next, reducer}) {
      fifo(directory.resolve("manifest.tmp"));
      Files.createSymbolicLink(directory.resolve("packed.mof"), victim);
      Files.createSymbolicLink(directory.resolve("pass-0.mof"), victim);
      Files.createLink(directory.resolve("pass-1.mof"), victim);
    }
    throw new IOException("enough for one attempt");
  }

  private static void fifo(Path path) throws IOException {
    try {
      new ProcessBuilder("mkfifo", path.toString()).start().waitFor();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static void remove(Path tree) throws IOException {
    List<Path> paths;
    try (Stream<Path> all = Files.walk(tree)) {
      paths = all.sorted(Comparator.reverseOrder()).collect(Collectors.toList());
    }
    for (Path path : paths) {
      Files.delete(path);
    }
  }
}
