package org.vas.workloads.heavy;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Writes the group's first items with every two of its last items, the lesser one first. Keeps a
 * group in memory.
 */
public final class JoinLasts extends Reducer<Text, Text, Text, NullWritable> {
  private static final byte[] COMMA = {SelfJoin.SEPARATOR};
  private final Text joined = new Text();

  @Override
  protected void reduce(Text first, Iterable<Text> lasts, Context context)
      throws IOException, InterruptedException {
    NameList items = new NameList();
    lasts.forEach(items::add);
    List<Text> sorted = items.sorted();
    for (int one = 0; one < sorted.size(); one++) {
      for (int other = one + 1; other < sorted.size(); other++) {
        joined.set(first);
        append(sorted.get(one));
        joined.append(COMMA, 0, COMMA.length);
        append(sorted.get(other));
        context.write(joined, NullWritable.get());
      }
    }
  }

  private void append(Text item) {
    joined.append(item.getBytes(), 0, item.getLength());
  }
}
