package org.vas.workloads.data;

import java.io.IOException;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.vas.workloads.numbered.NumberedMaps;

/** Writes one file of whole lines, as many as its share of the bytes has room for. */
public final class OneFile extends Mapper<NullWritable, NullWritable, NullWritable, Text> {
  @Override
  protected void map(NullWritable none, NullWritable nothing, Context context)
      throws IOException, InterruptedException {
    Configuration conf = context.getConfiguration();
    int file = NumberedMaps.number(context.getInputSplit());
    long bytes = conf.getLong(Generate.BYTES, 0);
    SplittableRandom random = random(conf.getLong(Generate.SEED, 0), file);
    LineSource lines = conf.getEnum(Generate.KIND, InputKind.DOCUMENTS).lines(bytes);
    Text text = new Text();
    long left = bytes / conf.getInt(Generate.FILES, 1);
    for (long number = 0; left > 0; number++) {
      String line = lines.next(random, file, number);
      left -= line.length() + 1;
      if (left >= 0) {
        text.set(line);
        context.write(NullWritable.get(), text);
      }
    }
  }

  /** Of its own for each file, and each seed. */
  private static SplittableRandom random(long seed, int file) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int before = 0; before < file; before++) {
      random.split();
    }
    return random.split();
  }
}
