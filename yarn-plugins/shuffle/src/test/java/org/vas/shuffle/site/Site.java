package org.vas.shuffle.site;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.JobConf;
import org.vas.filesystem.ModelDisk;
import org.vas.filesystem.ModelFileSystem;
import org.vas.filesystem.ModelGuest;

/** A mount and its guests, for one history after another. */
final class Site {
  private static final int GUESTS = 3;
  private static final AtomicInteger NUMBER = new AtomicInteger();

  final Guards guards;
  final Path mount;
  final JobConf conf = new JobConf(false);
  final List<ModelGuest> guests = new ArrayList<>();
  private ModelDisk disk;

  Site(Path directory, Guards guards) throws IOException {
    this.guards = guards;
    this.mount = Files.createDirectories(directory.resolve("mount")).toRealPath();
    conf.set("fs.lustre.impl", ModelFileSystem.class.getName());
    conf.set("vas.lustre.mount", mount.toString());
    conf.set("vas.locations", "none");
    conf.set("vas.cluster.file", directory.resolve("no-map").toString());
    conf.set("vas.lustre.stripe-count", "0");
    conf.set("vas.lustre.links", guards.links);
    conf.set("vas.lustre.buffer-size", "4k");
    if (!guards.lazyPaths.isEmpty()) {
      conf.set("vas.lustre.lazy-paths", guards.lazyPaths);
    }
    int number = NUMBER.incrementAndGet();
    for (int i = 0; i < GUESTS; i++) {
      guests.add(new ModelGuest("s" + number + "g" + i, guards.rename));
    }
  }

  /** Begins a history: nothing of the one before is open or in memory. */
  void begin(Random random) throws IOException {
    end();
    disk = new ModelDisk(random);
    guests.forEach(guest -> guest.mount(disk));
  }

  void end() throws IOException {
    if (disk != null) {
      disk.close();
    }
  }

  ModelDisk disk() {
    return disk;
  }

  /** Closes what a stream holds on this machine; the process that had it is dead, or done. */
  static void release(Closeable stream) {
    try {
      stream.close();
    } catch (IOException | ModelGuest.Died closedNow) {
      // Its descriptor and its lock are gone all the same.
    }
  }

  FileSystem files(ModelGuest guest) throws IOException {
    return guest.files(conf);
  }

  /**
   * Runs something on a guest, in the life of it that it is in or was in.
   *
   * @return whether it came to its end; not if it failed, or if the guest died
   */
  static boolean ran(ModelGuest guest, int life, Callable<?> work) throws Exception {
    try {
      guest.run(life, work);
      return true;
    } catch (IOException | ModelGuest.Died failed) {
      return false;
    }
  }
}
