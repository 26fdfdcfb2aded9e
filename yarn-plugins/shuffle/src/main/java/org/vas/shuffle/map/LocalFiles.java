package org.vas.shuffle.map;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * The runs of one map attempt on the node's disks, under the names of stock's spills. Hadoop chooses a
 * disk with room for each file, one disk after the other.
 */
final class LocalFiles extends AttemptFiles {
  private final MapOutputFile names;
  private final Map<String, Path> paths = new HashMap<>();
  private int made;

  LocalFiles(ShuffleFiles fs, MapOutputFile names) {
    super(fs, new Path("/"));
    this.names = names;
  }

  @Override
  MofPolicy policy(JobConf job) {
    return MofPolicy.oneFile();
  }

  /** Returns one, as stock's layout has one segment for each partition. */
  @Override
  int mostRuns(JobConf job) {
    return 1;
  }

  @Override
  FSDataOutputStream create(String name, long leastBytes) throws IOException {
    paths.put(name, names.getSpillFileForWrite(made++, leastBytes));
    return create(name);
  }

  /** Returns the path at which {@link #create} made a file; null if it made none of that name. */
  @Override
  Path path(String name) {
    return paths.get(name);
  }
}
