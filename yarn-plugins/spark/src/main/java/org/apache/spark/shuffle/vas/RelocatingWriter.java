package org.apache.spark.shuffle.vas;

import java.io.IOException;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * One of Spark's writers, whose map output gets a location of its own. Spark forgets all outputs of
 * a location of which one could not be read: so those of other maps must have other locations. Its
 * work is counted as that of its shuffle.
 */
final class RelocatingWriter<K, V> extends ShuffleWriter<K, V> {
  private final ShuffleWriter<K, V> sparks;
  private final ShuffleWork work;

  RelocatingWriter(ShuffleWriter<K, V> sparks, ShuffleWork work) {
    this.sparks = sparks;
    this.work = work;
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    work.<Void, IOException>during(() -> {
      sparks.write(records);
      return null;
    });
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    Option<MapStatus> status = sparks.stop(success);
    if (status != null && status.isDefined()) {
      MapStatus known = status.get();
      known.updateLocation(MapLocations.own(known.location(), known.mapId()));
    }
    return status;
  }

  @Override
  public long[] getPartitionLengths() {
    return sparks.getPartitionLengths();
  }
}
