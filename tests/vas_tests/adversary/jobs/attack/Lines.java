package attack;

import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;

/** Each line of the input is a map of its own, with one record. */
final class Lines {
  private Lines() {}

  static void prepare(Job job) {
    job.setInputFormatClass(NLineInputFormat.class);
    job.setMapperClass(Word.TextMapper.class);
    job.setReducerClass(OfTexts.class);
  }

  /** The digest of lines as they are. */
  public static final class OfTexts extends Word.Digest<Text> {}
}
