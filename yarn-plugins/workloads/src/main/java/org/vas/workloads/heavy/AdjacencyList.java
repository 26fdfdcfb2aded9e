package org.vas.workloads.heavy;

import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.tool.OneJob;

/** {@code AdjacencyList INPUT OUTPUT}: writes the neighbours of each node of a directed graph. */
public final class AdjacencyList extends OneJob {
  /** Makes the job with its name and usage text. */
  public AdjacencyList() {
    super("adjacencylist", "Reads lines of an edge each: FROM, tab, TO. Writes NODE, tab, the nodes"
        + " with an edge to\nit, tab, the nodes that it has an edge to; each once, in order.");
  }

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new AdjacencyList(), args));
  }

  @Override
  protected void prepare(Job job) {
    job.setInputFormatClass(KeyValueTextInputFormat.class);
    job.setMapperClass(BothEnds.class);
    job.setCombinerClass(UniteNeighbours.class);
    job.setReducerClass(UniteNeighbours.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Neighbours.class);
  }

  /** Emits, for each end of an edge, the other end. Fails on a line that is not an edge. */
  public static final class BothEnds extends Mapper<Text, Text, Text, Neighbours> {
    private final Neighbours neighbours = new Neighbours();

    @Override
    protected void map(Text from, Text to, Context context)
        throws IOException, InterruptedException {
      if (to.getLength() == 0) {
        throw new IOException("'" + from + "' is not an edge; write FROM, a tab, and TO");
      }
      neighbours.clear();
      neighbours.to.add(to);
      context.write(from, neighbours);
      neighbours.clear();
      neighbours.from.add(from);
      context.write(to, neighbours);
    }
  }
}
