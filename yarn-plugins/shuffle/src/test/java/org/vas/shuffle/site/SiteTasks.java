package org.vas.shuffle.site;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.vas.filesystem.ModelGuest;
import org.vas.shuffle.map.MapFiles;
import org.vas.shuffle.reduce.MapLooks;

/**
 * Runs task attempts on guests: map output by the product's writer and reader, Hadoop's committer.
 */
final class SiteTasks {
  private final Site site;

  SiteTasks(Site site) {
    this.site = site;
  }

  void map(SiteMaster master, int map, ModelGuest guest) throws Exception {
    TaskAttemptID attempt = master.next(TaskType.MAP, map);
    List<List<String>> keys = new ArrayList<>();
    for (int partition = 0; partition < master.job.reduces; partition++) {
      keys.add(master.job.keys(map, partition));
    }
    if (Site.ran(guest, guest.life(), () -> {
      MapFiles.publish(master.conf(guest), site.files(guest), attempt, keys);
      return null;
    })) {
      master.mapped(map, attempt);
    }
  }

  void reduce(SiteMaster master, int reduce, ModelGuest guest) throws Exception {
    TaskAttemptID attempt = master.next(TaskType.REDUCE, reduce);
    if (Site.ran(guest, guest.life(), () -> {
      reduced(master, reduce, guest, attempt);
      return null;
    })) {
      master.reduced(reduce, attempt);
    } else {
      master.failed(reduce, attempt);
    }
  }

  private void reduced(SiteMaster master, int reduce, ModelGuest guest, TaskAttemptID attempt)
      throws IOException {
    FileSystem fs = site.files(guest);
    TaskAttemptContext context = master.context(guest, attempt);
    FileOutputCommitter committer = master.committer(guest, context);
    committer.setupTask(context);
    Path part = new Path(committer.getWorkPath(), SiteJob.part(reduce));
    try (FSDataOutputStream out = fs.create(part, false)) {
      for (String key : input(master, reduce, guest)) {
        out.write((key + "\n").getBytes(UTF_8));
      }
    }
    if (!master.grants(reduce, attempt)) {
      committer.abortTask(context);
      throw new IOException(attempt + ": another attempt commits");
    }
    committer.commitTask(context);
  }

  private List<String> input(SiteMaster master, int reduce, ModelGuest guest)
      throws IOException {
    List<String> all = new ArrayList<>();
    for (int map = 0; map < master.job.maps; map++) {
      TaskAttemptID of = master.maps.get(map);
      if (of == null) {
        throw new IOException("map " + map + " has to run again");
      }
      try {
        all.addAll(site.guards.mapOutputIsChecked
            ? MapLooks.keys(master.conf(guest), site.files(guest), of, reduce)
            : MapLooks.unchecked(master.conf(guest), site.files(guest), of, reduce));
      } catch (MapLooks.BadMap bad) {
        master.maps.remove(map, of);
        throw bad;
      }
    }
    return all;
  }
}
