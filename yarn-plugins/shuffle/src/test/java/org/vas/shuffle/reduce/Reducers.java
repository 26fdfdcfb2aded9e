package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;

/** Reducers of both interfaces that note what they get: each group's values, with their keys. */
final class Reducers {
  static final String ID = "test.id";
  private static final Map<String, List<String>> SEEN = new ConcurrentHashMap<>();
  private static final int LONGEST = 60;

  private Reducers() {}

  static List<String> take(String id) {
    List<String> seen = SEEN.remove(id);
    return seen == null ? List.of() : List.copyOf(seen);
  }

  static void note(String id, List<String> group) {
    SEEN.computeIfAbsent(id, i -> Collections.synchronizedList(new ArrayList<>()))
        .add(String.join(";", group));
  }

  /** A record as it is noted; long ones by length and hash. */
  static String text(Writable key, Writable value) {
    String text = key + "=" + value;
    return text.length() <= LONGEST ? text : text.length() + "#" + text.hashCode();
  }

  /** Notes what it gets by the old interface. */
  public static final class Old extends Noting {}

  /** Notes what it gets by the old interface; base of reducers that do something besides. */
  public abstract static class Noting extends MapReduceBase
      implements Reducer<Writable, Writable, NullWritable, NullWritable> {
    private String id;

    @Override
    public void configure(JobConf job) {
      id = job.get(ID);
    }

    @Override
    public void reduce(Writable key, Iterator<Writable> values,
        OutputCollector<NullWritable, NullWritable> out, Reporter reporter) {
      List<String> group = new ArrayList<>();
      while (values.hasNext()) {
        Writable value = values.next();
        group.add(text(key, value));
      }
      note(id, group);
    }
  }

  /** Notes what it gets by the new interface. */
  public static final class New extends
      org.apache.hadoop.mapreduce.Reducer<Writable, Writable, NullWritable, NullWritable> {
    @Override
    protected void reduce(Writable key, Iterable<Writable> values, Context context)
        throws IOException {
      List<String> group = new ArrayList<>();
      for (Writable value : values) {
        group.add(text(key, value));
      }
      note(context.getConfiguration().get(ID), group);
    }
  }
}
