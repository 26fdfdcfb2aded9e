package org.apache.spark.shuffle.vas;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The map outputs that a reader needs, and the location by which the driver knows each. Readers have
 * the blocks as if they were their own executor's; errors have to name the driver's location.
 */
final class MapLocations {
  private final List<List<Tuple3<BlockId, Object, Object>>> blocks = new ArrayList<>();
  private final Map<Long, Origin> origins = new HashMap<>();

  private MapLocations() {}

  /**
   * Returns the location that one map output has alone: the machine of its writer, and an executor
   * that does not exist.
   */
  static BlockManagerId own(BlockManagerId writer, long task) {
    return BlockManagerId.apply("vas-" + task, writer.host(), writer.port(), Option.empty());
  }

  /**
   * Takes what the driver knows.
   *
   * @param sizes blocks by location, with their size and the number of their map
   * @param turn readers with other numbers begin with other maps, so that not all ask one server
   */
  static MapLocations of(Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> sizes,
      int turn) {
    MapLocations found = new MapLocations();
    while (sizes.hasNext()) {
      Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> each = sizes.next();
      found.add(each._1(), CollectionConverters.asJava(each._2()));
    }
    found.blocks.sort((one, other) ->
        Integer.compare((Integer) one.get(0)._3(), (Integer) other.get(0)._3()));
    if (!found.blocks.isEmpty()) {
      Collections.rotate(found.blocks, -(turn % found.blocks.size()));
    }
    return found;
  }

  private void add(BlockManagerId location, List<Tuple3<BlockId, Object, Object>> ofLocation) {
    if (ofLocation.isEmpty()) {
      return;
    }
    blocks.add(ofLocation);
    for (Tuple3<BlockId, Object, Object> block : ofLocation) {
      ShuffleBlockId id = (ShuffleBlockId) block._1();
      origins.putIfAbsent(id.mapId(), new Origin(id.shuffleId(), location, (Integer) block._3()));
    }
  }

  /** Returns all blocks as blocks of one executor. */
  Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> asIfOf(
      BlockManagerId executor) {
    List<Tuple3<BlockId, Object, Object>> all = new ArrayList<>();
    blocks.forEach(all::addAll);
    List<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> one = all.isEmpty()
        ? List.of() : List.of(new Tuple2<>(executor, CollectionConverters.asScala(all)));
    return CollectionConverters.asScala(one.iterator());
  }

  /**
   * Returns the error by which the driver has a map run again; throw it at once. Null if the map is
   * not one of those that this reader needs.
   */
  FetchFailedException failure(long task, int partition, Throwable cause) {
    Origin origin = origins.get(task);
    return origin == null ? null : new FetchFailedException(origin.location, origin.shuffle, task,
        origin.mapIndex, partition, cause.getMessage(), cause);
  }

  /** The driver's names of one map output. */
  private static final class Origin {
    private final int shuffle;
    private final BlockManagerId location;
    private final int mapIndex;

    Origin(int shuffle, BlockManagerId location, int mapIndex) {
      this.shuffle = shuffle;
      this.location = location;
      this.mapIndex = mapIndex;
    }
  }
}
