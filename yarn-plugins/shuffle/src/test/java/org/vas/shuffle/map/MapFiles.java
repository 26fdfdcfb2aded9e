package org.vas.shuffle.map;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.ManifestFormat;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;

/** A map attempt's files as {@link MapOutput} writes them, without a task around it. */
public final class MapFiles {
  private MapFiles() {}

  /**
   * Writes and publishes the output of one attempt.
   *
   * @param keys the sorted records of each partition; their values are empty
   */
  public static void publish(
      JobConf job, FileSystem fs, TaskAttemptID attempt, List<List<String>> keys)
      throws IOException {
    ShuffleDirs dirs = new ShuffleDirs(job);
    AttemptFiles files =
        new AttemptFiles(new ShuffleFiles(fs, operation -> {}), dirs.attempt(attempt));
    files.make(dirs);
    List<Segment> segments = new ArrayList<>();
    Manifest.Builder manifest = Manifest.of(attempt.toString()).host("here").compressed(false)
        .encrypted(false).partitions(keys.size()).runs(1);
    try (MofOutput mof =
        new MofOutput(ShuffleDirs.PACKED, 0, files.create(ShuffleDirs.PACKED))) {
      for (int partition = 0; partition < keys.size(); partition++) {
        segments.add(segment(job, mof, partition, keys.get(partition)));
      }
      manifest.files(List.of(mof.describe()));
    }
    try (FSDataOutputStream out = files.create(PredictableNames.UNPUBLISHED)) {
      out.write(ManifestFormat.encode(manifest.segments(segments).build()));
      out.hsync();
    }
    files.rename(PredictableNames.UNPUBLISHED, ShuffleDirs.MANIFEST);
  }

  private static Segment segment(JobConf job, MofOutput mof, int partition, List<String> keys)
      throws IOException {
    SegmentWriter writer = new SegmentWriter(job);
    writer.open(mof);
    for (String key : keys) {
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      writer.append(bytes, 0, bytes.length, bytes, 0, 0);
    }
    return writer.close(partition, 0);
  }
}
