package org.vas.workloads.heavy;

import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/** Unites the sets of documents that a word is in. Keeps them in memory. */
public final class UniteNames extends Reducer<Text, NameList, Text, NameList> {
  @Override
  protected void reduce(Text word, Iterable<NameList> parts, Context context)
      throws IOException, InterruptedException {
    NameList all = new NameList();
    parts.forEach(all::addAll);
    context.write(word, all);
  }
}
