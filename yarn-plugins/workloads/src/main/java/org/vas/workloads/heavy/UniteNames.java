package org.vas.workloads.heavy;

import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/** The union of a word's names. Keeps them in memory. */
public final class UniteNames extends Reducer<Text, Names, Text, Names> {
  @Override
  protected void reduce(Text word, Iterable<Names> parts, Context context)
      throws IOException, InterruptedException {
    Names all = new Names();
    parts.forEach(all::addAll);
    context.write(word, all);
  }
}
