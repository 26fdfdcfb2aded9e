package org.apache.spark.shuffle.vas;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.apache.spark.shuffle.ShuffleDataIOUtils;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleMergedBlockId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * Finds blocks of map output on Lustre, whichever executor wrote them. An executor that is taken out
 * of service has none to hand on.
 *
 * <p>It is one of Spark's kind because {@link VasShuffleManager} is; it has no file on local disks.
 */
final class VasBlockResolver extends IndexShuffleBlockResolver {
  private static final Logger LOG = LoggerFactory.getLogger(VasBlockResolver.class);
  // Spark asks in the thread of the task, for all its blocks, and reads them in this order.
  private static final ThreadLocal<VerifiedBuffer> LAST = new ThreadLocal<>();

  private final SparkConf conf;
  private ApplicationFiles files;

  VasBlockResolver(SparkConf conf) {
    super(conf);
    this.conf = conf;
  }

  /**
   * Returns the bytes of a block, or of a range of blocks of one map.
   *
   * @throws BadMapOutputException if the map's index is missing or not what the map wrote
   * @throws StorageAwayException if no map is to blame
   */
  @Override
  public ManagedBuffer getBlockData(BlockId block, Option<String[]> localDirectories) {
    if (block instanceof ShuffleBlockId id) {
      return data(id.shuffleId(), id.mapId(), id.reduceId(), id.reduceId() + 1);
    }
    if (block instanceof ShuffleBlockBatchId id) {
      return data(id.shuffleId(), id.mapId(), id.startReduceId(), id.endReduceId());
    }
    throw new IllegalArgumentException(block + ": not a block of map output");
  }

  private ManagedBuffer data(int shuffle, long task, int start, int end) {
    MapFiles map = new MapFiles(files(), shuffle, task, start);
    VerifiedBuffer made = new VerifiedBuffer(map, map.plan(end));
    VerifiedBuffer before = LAST.get();
    if (before != null) {
      before.followedBy(made);
    }
    LAST.set(made);
    return made;
  }

  // The driver's words are there only when its application has started.
  private synchronized ApplicationFiles files() {
    if (files == null) {
      Map<String, String> told = new HashMap<>();
      for (Tuple2<String, String> each
          : conf.getAllWithPrefix(ShuffleDataIOUtils.SHUFFLE_SPARK_CONF_PREFIX())) {
        told.put(each._1(), each._2());
      }
      files = ApplicationFiles.of(conf, told);
    }
    return files;
  }

  @Override
  public scala.collection.immutable.Seq<ManagedBuffer> getMergedBlockData(
      ShuffleMergedBlockId block, Option<String[]> localDirectories) {
    throw new UnsupportedOperationException(block + ": nothing is pushed or merged");
  }

  @Override
  public MergedBlockMeta getMergedBlockMeta(
      ShuffleMergedBlockId block, Option<String[]> localDirectories) {
    throw new UnsupportedOperationException(block + ": nothing is pushed or merged");
  }

  @Override
  @SuppressWarnings("unchecked") // An empty list of Scala is one of anything.
  public Seq<ShuffleBlockInfo> getStoredShuffles() {
    return (Seq<ShuffleBlockInfo>) (Seq<?>) Nil$.MODULE$;
  }

  @Override
  public StreamCallbackWithID putShuffleBlockAsStream(
      BlockId block, SerializerManager serializers) {
    throw new UnsupportedOperationException(block + ": nothing is handed on");
  }

  @Override
  @SuppressWarnings("unchecked") // An empty list of Scala is one of anything.
  public List<Tuple2<BlockId, ManagedBuffer>> getMigrationBlocks(ShuffleBlockInfo info) {
    return (List<Tuple2<BlockId, ManagedBuffer>>) (List<?>) Nil$.MODULE$;
  }

  /** Does nothing: the driver removes the files of a shuffle. */
  @Override
  public void removeDataByMap(int shuffle, long task) {}

  /** Drops what this process keeps of a shuffle in memory. */
  synchronized void forget(int shuffle) {
    if (files != null) {
      files.indexes().forget(shuffle);
    }
  }

  /** Tells what this process has asked of Lustre, and drops what it keeps in memory. */
  @Override
  public synchronized void stop() {
    if (files != null) {
      LOG.info("Map output on Lustre: {}", files.counters());
      files.indexes().clear();
    }
  }
}
