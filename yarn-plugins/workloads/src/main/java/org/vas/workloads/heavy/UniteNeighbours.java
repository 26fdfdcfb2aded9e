package org.vas.workloads.heavy;

import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/** Unites the sets of a node's neighbours. Keeps them in memory. */
public final class UniteNeighbours extends Reducer<Text, Neighbours, Text, Neighbours> {
  @Override
  protected void reduce(Text node, Iterable<Neighbours> parts, Context context)
      throws IOException, InterruptedException {
    Neighbours all = new Neighbours();
    parts.forEach(all::addAll);
    context.write(node, all);
  }
}
