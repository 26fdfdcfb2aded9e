package attack;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** {@code Attack [-D NAME=VALUE]... CASE INPUT OUTPUT}: a job of an attacker, or of a careless user. */
public final class Attack extends Configured implements Tool {
  private static final Map<String, Consumer<Job>> CASES = Map.of(
      "scratch", Scratch::prepare,
      "forged", Forged::prepare,
      "hang", Hang::prepare,
      "swallow", Swallow::prepare,
      "crimes", Crimes::prepare,
      "linked", Linked::prepare,
      "lines", Lines::prepare,
      "large", Large::prepare,
      "counting", Counting::prepare);

  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Attack(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    Job job = Job.getInstance(getConf(), "attack " + args[0]);
    job.setJarByClass(Attack.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(IntWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    job.setNumReduceTasks(1);
    FileInputFormat.addInputPath(job, new Path(args[1]));
    FileOutputFormat.setOutputPath(job, new Path(args[2]));
    CASES.get(args[0]).accept(job);
    return job.waitForCompletion(true) ? 0 : 1;
  }

  /** The path on this machine of the job's staging directory. */
  static java.nio.file.Path jobDirectory(Configuration conf) {
    return java.nio.file.Path.of(
        conf.get("attack.mount") + new Path(conf.get("mapreduce.job.dir")).toUri().getPath());
  }
}
