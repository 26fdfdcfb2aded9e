package org.vas.workloads.words;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.tool.OneJob;

/**
 * {@code WatchedWordCount INPUT OUTPUT}: WordCount whose maps watch the heap of the JVM that they
 * run in, one after another. Its output is that of {@link PlainWordCount}.
 */
public final class WatchedWordCount extends OneJob {
  /** Counters of the heap of a JVM that ran so many maps; a JVM with fewer counts nothing. */
  public enum Watched {
    /** Bytes of the heap that live at the end of the JVM's fifth map, after collections. */
    LIVE_BYTES_OF_5TH,

    /** Bytes of the heap that live at the end of the JVM's 200th map, after collections. */
    LIVE_BYTES_OF_200TH
  }

  /** Makes the job with its name and usage text. */
  public WatchedWordCount() {
    super("watchedwordcount", "Counts the words of text: WORD, tab, COUNT.");
  }

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new WatchedWordCount(), args));
  }

  @Override
  protected void prepare(Job job) {
    job.setMapperClass(WatchingMapper.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
  }

  /** A mapper that counts the maps of its JVM in a static field, which lives as long as that. */
  public static final class WatchingMapper extends TokenCounterMapper {
    private static final int EARLY = 5;
    private static final int LATE = 200;
    private static final long CLEANERS_MILLIS = 100;
    private static int maps;

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      super.cleanup(context);
      int map = count();
      if (map == EARLY) {
        context.getCounter(Watched.LIVE_BYTES_OF_5TH).setValue(liveBytes());
      } else if (map == LATE) {
        context.getCounter(Watched.LIVE_BYTES_OF_200TH).setValue(liveBytes());
      }
    }

    private static synchronized int count() {
      return ++maps;
    }

    // Twice: what has a finalizer or a cleaner is collected after that has run.
    private static long liveBytes() throws InterruptedException {
      MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
      memory.gc();
      Thread.sleep(CLEANERS_MILLIS);
      memory.gc();
      return memory.getHeapMemoryUsage().getUsed();
    }
  }
}
