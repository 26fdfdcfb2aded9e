package attack;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;

/** A mapper and a reducer that do everything wrong, catch what that gives, and go on. */
final class Swallow {
  private static final byte[] LARGE = new byte[1 << 20];

  private Swallow() {}

  static void prepare(Job job) {
    job.setMapperClass(Careless.class);
    job.setReducerClass(Sum.class);
    job.setPartitionerClass(Anywhere.class);
    job.setMapOutputKeyClass(Fragile.class);
    job.setMapOutputValueClass(Number.class);
    job.setNumReduceTasks(2);
    job.getConfiguration().setInt("mapreduce.task.io.sort.mb", 1);
  }

  /** A word that may fail after 3 MiB of it are written: more than the sort buffer. */
  public static final class Fragile extends Word {
    @Override
    public void write(DataOutput out) throws IOException {
      super.write(out);
      if (word.startsWith("*")) {
        for (int i = 0; i < 3; i++) {
          out.write(LARGE);
        }
        throw new IOException("a key that cannot be written");
      }
    }
  }

  /** A number that may fail half written, and that fails to be read the first time of all. */
  public static final class Number implements Writable {
    private static boolean failed;
    int number;

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(number);
      if (number < 0) {
        throw new IOException("a value that cannot be written");
      }
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      number = in.readInt();
      if (number == 2 && !failed) {
        failed = true;
        throw new IOException("a value that cannot be read at first");
      }
    }
  }

  /** Out of range for words that say so. */
  public static final class Anywhere extends Partitioner<Fragile, Number> {
    @Override
    public int getPartition(Fragile key, Number value, int partitions) {
      char first = key.toString().charAt(0);
      return first == '!' ? partitions : first == '?' ? -1 : first == '#' ? Integer.MIN_VALUE
          : first % partitions;
    }
  }

  /** Each line once with 1 and once with 2, and much that is refused in between. */
  public static final class Careless extends Mapper<LongWritable, Text, Fragile, Number> {
    private int refused;

    @Override
    protected void map(LongWritable at, Text line, Context context)
        throws IOException, InterruptedException {
      for (String bad : new String[] {"!", "?", "#", "*"}) {
        refuse(context, word(bad + line), number(1));
      }
      refuse(context, word(line.toString()), number(-1));
      refuse(context, word(line.toString()), null);
      refuse(context, null, number(1));
      context.write(word(line.toString()), number(1));
      refuse(context, word("*"), number(1));
      context.write(word(line.toString()), number(2));
    }

    private void refuse(Context context, Fragile key, Number value) throws InterruptedException {
      try {
        context.write(key, value);
      } catch (IOException | NullPointerException e) {
        refused++;
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter("attack", "REFUSED").increment(refused);
    }

    private static Fragile word(String text) {
      Fragile word = new Fragile();
      word.set(text);
      return word;
    }

    private static Number number(int number) {
      Number value = new Number();
      value.number = number;
      return value;
    }
  }

  /** Sums, and asks again where a value cannot be had. */
  public static final class Sum extends Reducer<Fragile, Number, Text, Text> {
    @Override
    protected void reduce(Fragile key, Iterable<Number> values, Context context)
        throws IOException, InterruptedException {
      int sum = 0;
      int count = 0;
      for (Iterator<Number> all = values.iterator(); all.hasNext(); ) {
        try {
          sum += all.next().number;
          count++;
        } catch (RuntimeException e) {
          context.getCounter("attack", "SWALLOWED").increment(1);
        }
      }
      context.write(new Text(key.toString()), new Text(count + " " + sum));
    }
  }
}
