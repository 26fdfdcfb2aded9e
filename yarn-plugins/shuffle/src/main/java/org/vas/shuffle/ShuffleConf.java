package org.vas.shuffle;

import java.time.Duration;
import java.util.List;
import org.vas.conf.ConfKey;

/** The configuration keys of the shuffle; all of them belong to the job. */
public interface ShuffleConf {
  ConfKey<Boolean> ENABLED = ConfKey.flag("vas.shuffle.enabled", true,
      "Whether a job that names the collector and the merge uses them. With false both hand all"
          + " they are given to stock's: map output goes to local disk and is fetched over HTTP.");

  ConfKey<String> LAYOUT = ConfKey.text("vas.shuffle.layout", "auto",
      "Where the partitions of a map go: packed (one file), per-reducer (one file each), or auto:"
          + " per-reducer where a partition is expected to reach vas.shuffle.per-reducer-min and the"
          + " job stays within vas.shuffle.files-budget; else packed. The expected size is"
          + " vas.lustre.block-size (one split is one stripe) over the number of reducers; for a map"
          + " whose output fits its buffer, the real one.");

  ConfKey<Long> PER_REDUCER_MIN = ConfKey.bytes("vas.shuffle.per-reducer-min", "32m", "64k", "4g",
      "The smallest partition worth a file of its own. On a real Lustre with two clients, packed"
          + " needed an eighth of the lock requests, was 8 times faster to write and twice as fast"
          + " to read at 64 KiB a partition, and no slower at 4 MiB; larger files gain by using"
          + " several OSTs.");

  ConfKey<Integer> FILES_BUDGET = ConfKey.integer("vas.shuffle.files-budget", 10000, 1, 100000000,
      "MOFs (maps times reducers) a job may create with layout auto.");

  ConfKey<Long> ALIGNMENT = ConfKey.bytes("vas.shuffle.alignment", "4k", "1", "4m",
      "Where a partition starts in a packed MOF: a multiple of this, so that two readers never"
          + " share a page. Runs whose segments have less than 16 times this on average are not"
          + " aligned: the gaps, which are zeros, would be more than 3 % of the bytes.");

  ConfKey<Integer> MAX_RUNS = ConfKey.integer("vas.shuffle.max-runs", 16, 1, 10000,
      "Sorted runs a map attempt may leave to the reducers; at more, it merges them itself.");

  ConfKey<Boolean> LOCAL_STAGING = ConfKey.flag("vas.shuffle.local-staging", false,
      "Whether the staging directory may be on file:, which is right only if all tasks run on one"
          + " machine, or file: is a shared mount.");

  ConfKey<Boolean> SYNC_DATA = ConfKey.flag("vas.shuffle.sync-data", false,
      "Whether MOFs are fsynced before their manifest is. Without it a guest that loses its power"
          + " can publish a map whose bytes are lost: checksums find that, and the map runs again.");

  ConfKey<Duration> READ_TIMEOUT = ConfKey.duration("vas.shuffle.read-timeout", "10m", "1s", "1d",
      "How long one call of the file system, such as one read of a MOF, may take before the reduce"
          + " attempt fails.");

  ConfKey<Long> READ_SIZE = ConfKey.bytes("vas.shuffle.read-size", "960k", "64k", "16m",
      "Bytes of one read of a MOF, a multiple of 64k; smaller where memory is short. G1 gives an"
          + " array of more than half a region whole regions: this and its halves fit those of 1m.");

  ConfKey<Integer> MERGE_PERCENT = ConfKey.integer("vas.shuffle.merge-percent", 25, 1, 100,
      "Percent of a reducer's heap that the merge takes at most while reduce() runs and needs the"
          + " rest. Passes before it may take mapreduce.reduce.shuffle.input.buffer.percent, which"
          + " bounds both.");

  ConfKey<String> MERGE_THREAD = ConfKey.choice("vas.shuffle.merge-thread", "auto",
      List.of("auto", "on", "off"),
      "Whether a reducer merges in a thread of its own, ahead of reduce(). auto: only where that"
          + " thread runs no code of the job, so not with a comparator, key class, serialization or"
          + " codec that is not Hadoop's own, nor with NodeMerge. on: the job says that its classes"
          + " are safe in two threads at once (no static or shared scratch space); its comparator is"
          + " then called once more for each record to see that the order is right. off: never.");

  ConfKey<Long> CODEC_MEMORY = ConfKey.bytes("vas.shuffle.codec-memory", "4m", "0", "1g",
      "Bytes that one open stream takes of a map output codec that is none of Hadoop's own, on the"
          + " heap and off it. A reducer has one for each segment that it merges at once.");
}
