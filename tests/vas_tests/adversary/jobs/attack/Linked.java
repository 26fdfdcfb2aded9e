package attack;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.io.LongWritable;

/** A map that puts a link to somebody's directory where the job's map output is. */
final class Linked {
  private Linked() {}

  static void prepare(Job job) {
    job.setMapperClass(Linker.class);
    job.setReducerClass(Word.Digest.class);
  }

  /** The first attempt of a map, at its start; the victim has a directory of the attempt's name. */
  public static final class Linker extends Word.TextMapper {
    @Override
    protected void setup(Mapper<LongWritable, Text, Text, IntWritable>.Context context)
        throws IOException {
      if (context.getTaskAttemptID().getId() > 0) {
        return;
      }
      Path shuffle = Attack.jobDirectory(context.getConfiguration()).resolve("shuffle");
      Path victim = Path.of(context.getConfiguration().get("attack.victim"));
      Path same = Files.createDirectories(victim.resolve(context.getTaskAttemptID().toString()));
      Files.writeString(same.resolve("keep"), "kept\n");
      Files.move(shuffle, shuffle.resolveSibling("away"));
      Files.createSymbolicLink(shuffle, victim);
    }
  }
}
