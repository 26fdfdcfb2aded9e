package org.apache.spark.shuffle.vas;

import org.apache.spark.FetchFailed;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BlockStoreShuffleReader;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import scala.Product2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Spark's own reader over blocks that are as if its executor had written them. Errors of a block are
 * told with the location by which the driver knows its map.
 */
final class VasShuffleReader<K, C> implements ShuffleReader<K, C> {
  private final MapLocations locations;
  private final TaskContext context;
  private final BlockStoreShuffleReader<K, C> sparks;
  private final ShuffleWork work;

  /** Makes the reader of a task; {@code batches} lets it ask for neighbouring blocks at once. */
  VasShuffleReader(VasShuffleHandle<K, ?, C> handle, MapLocations locations, TaskContext context,
      ShuffleReadMetricsReporter metrics, boolean batches) {
    SparkEnv env = SparkEnv.get();
    this.locations = locations;
    this.context = context;
    this.work = handle.work();
    this.sparks = new BlockStoreShuffleReader<>(handle,
        locations.asIfOf(env.blockManager().blockManagerId()), context, metrics,
        env.serializerManager(), env.blockManager(), env.mapOutputTracker(), batches);
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    Iterator<Product2<K, C>> records;
    try {
      records = work.during(sparks::read);
    } catch (Throwable e) {
      throw telling(e);
    }
    // Called for each record: nothing is allocated.
    return new AbstractIterator<>() {
      @Override
      public boolean hasNext() {
        try {
          return records.hasNext();
        } catch (Throwable e) {
          throw telling(e);
        }
      }

      @Override
      public Product2<K, C> next() {
        try {
          return records.next();
        } catch (Throwable e) {
          throw telling(e);
        }
      }
    };
  }

  private RuntimeException telling(Throwable error) {
    throw VasShuffleReader.<RuntimeException>unchecked(told(error));
  }

  // Spark's exception cannot be declared by what implements Scala's interfaces.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E unchecked(Throwable error) throws E {
    throw (E) error;
  }

  private Throwable told(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof StorageAwayException) {
        // Spark's fetcher has already blamed a map where the index could not be read.
        context.setFetchFailed(null);
        return cause;
      }
    }
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      FetchFailedException failure = failure(cause);
      if (failure != null) {
        return failure;
      }
    }
    return error;
  }

  // The driver takes what the task's context was told last: the one that is made here.
  private FetchFailedException failure(Throwable cause) {
    if (cause instanceof BadMapOutputException bad) {
      return locations.failure(bad.taskAttempt(), bad.partition(), bad);
    }
    if (cause instanceof FetchFailedException sparks) {
      FetchFailed reason = (FetchFailed) sparks.toTaskFailedReason();
      return locations.failure(reason.mapId(), reason.reduceId(), cause);
    }
    return null;
  }
}
