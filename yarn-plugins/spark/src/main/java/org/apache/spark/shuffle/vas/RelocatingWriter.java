package org.apache.spark.shuffle.vas;

import java.io.IOException;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * One of Spark's writers, whose map output gets a location of its own. Spark forgets all outputs of
 * a location of which one could not be read: so those of other maps must have other locations.
 */
final class RelocatingWriter<K, V> extends ShuffleWriter<K, V> {
  private final ShuffleWriter<K, V> sparks;

  RelocatingWriter(ShuffleWriter<K, V> sparks) {
    this.sparks = sparks;
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    sparks.write(records);
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
