package org.apache.spark.shuffle.vas;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The indexes of map outputs that this executor wrote or has read, so that it opens each once and
 * not once for each reduce task. A task attempt writes its index once and no other attempt has its
 * number, so a kept index never differs from the file; whether the data file is what the map wrote,
 * each reader checks by the checksums. For several threads.
 *
 * <p>An index that finds no room takes that of shuffles which nobody has asked for lately, and else
 * is not kept: readers of one shuffle all begin elsewhere and want every index once, so that to
 * drop the oldest of them would drop each before it is wanted again.
 */
final class IndexCache {
  private final long limit;
  private final Map<Integer, Map<Long, byte[]>> shuffles = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /** Makes a cache of so many bytes of indexes; 0 keeps none. */
  IndexCache(long limit) {
    this.limit = limit;
  }

  /** Returns the bytes of an index, or null; nobody may change them. */
  synchronized byte[] find(int shuffle, long taskAttempt) {
    return shuffles.getOrDefault(shuffle, Map.of()).get(taskAttempt);
  }

  /** Keeps the bytes of an index if there is room. */
  synchronized void keep(int shuffle, long taskAttempt, byte[] index) {
    if (index.length > limit) {
      return;
    }
    Map<Long, byte[]> own = shuffles.computeIfAbsent(shuffle, any -> new HashMap<>());
    makeRoom(shuffle, index.length);
    if (bytes + index.length <= limit && own.putIfAbsent(taskAttempt, index) == null) {
      bytes += index.length;
    }
  }

  private void makeRoom(int shuffle, int wanted) {
    Iterator<Map.Entry<Integer, Map<Long, byte[]>>> oldest = shuffles.entrySet().iterator();
    while (bytes + wanted > limit && oldest.hasNext()) {
      Map.Entry<Integer, Map<Long, byte[]>> next = oldest.next();
      if (next.getKey() != shuffle) {
        oldest.remove();
        bytes -= sum(next.getValue());
      }
    }
  }

  /** Drops the indexes of a shuffle. */
  synchronized void forget(int shuffle) {
    bytes -= sum(shuffles.getOrDefault(shuffle, Map.of()));
    shuffles.remove(shuffle);
  }

  /** Forgets the indexes of all shuffles. */
  synchronized void clear() {
    shuffles.clear();
    bytes = 0;
  }

  /** Returns the bytes of all kept indexes. */
  synchronized long bytes() {
    return bytes;
  }

  private static long sum(Map<Long, byte[]> indexes) {
    return indexes.values().stream().mapToLong(each -> each.length).sum();
  }
}
