package org.vas.workloads.heavy;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.StringTokenizer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.tool.OneJob;

/** {@code InvertedIndex INPUT OUTPUT}: writes which documents each word is in. */
public final class InvertedIndex extends OneJob {
  /** Makes the job with its name and usage text. */
  public InvertedIndex() {
    super("invertedindex", "Reads lines of a document each: NAME, tab, its words. Writes WORD, tab,"
        + " the names of\nthe documents that have it, each once, in order.");
  }

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new InvertedIndex(), args));
  }

  @Override
  protected void prepare(Job job) {
    job.setInputFormatClass(KeyValueTextInputFormat.class);
    job.setMapperClass(Words.class);
    job.setCombinerClass(UniteNames.class);
    job.setReducerClass(UniteNames.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(NameList.class);
  }

  /** Emits each word of a document once. */
  public static final class Words extends Mapper<Text, Text, Text, NameList> {
    private final Text word = new Text();
    private final NameList names = new NameList();

    @Override
    protected void map(Text name, Text words, Context context)
        throws IOException, InterruptedException {
      names.clear();
      names.add(name);
      Set<String> seen = new HashSet<>();
      for (StringTokenizer rest = new StringTokenizer(words.toString()); rest.hasMoreTokens();) {
        String next = rest.nextToken();
        if (seen.add(next)) {
          word.set(next);
          context.write(word, names);
        }
      }
    }
  }
}
