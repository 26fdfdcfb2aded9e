package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

/** Which indexes an executor keeps, and that they never take more room than was given. */
class IndexCacheTest {
  private static final int LIMIT = 100;

  private final IndexCache cache = new IndexCache(LIMIT);

  @Test
  void anIndexIsFoundByShuffleAndAttempt() {
    byte[] index = new byte[40];
    cache.keep(1, 7, index);
    assertSame(index, cache.find(1, 7));
    assertNull(cache.find(1, 8));
    assertNull(cache.find(2, 7));
  }

  @Test
  void oneThatFindsNoRoomIsNotKeptAndDropsNoneOfItsShuffle() {
    for (int task = 0; task < 5; task++) {
      cache.keep(1, task, new byte[40]);
    }
    assertEquals(80, cache.bytes());
    assertEquals(40, cache.find(1, 0).length);
    assertEquals(40, cache.find(1, 1).length);
    assertNull(cache.find(1, 2));
  }

  @Test
  void theShuffleThatNobodyHasAskedForLatelyMakesRoom() {
    cache.keep(1, 0, new byte[50]);
    cache.keep(2, 0, new byte[50]);
    cache.find(1, 0);
    cache.keep(3, 0, new byte[50]);
    assertEquals(50, cache.find(1, 0).length);
    assertNull(cache.find(2, 0));
    assertEquals(LIMIT, cache.bytes());
  }

  @Test
  void oneThatIsLargerThanAllRoomDropsNothing() {
    cache.keep(1, 0, new byte[50]);
    cache.keep(2, 0, new byte[LIMIT + 1]);
    assertEquals(50, cache.find(1, 0).length);
    assertNull(cache.find(2, 0));
  }

  @Test
  void keptTwiceItIsCountedOnce() {
    cache.keep(1, 0, new byte[40]);
    cache.keep(1, 0, new byte[40]);
    assertEquals(40, cache.bytes());
  }

  @Test
  void aForgottenShuffleGivesItsRoomBack() {
    cache.keep(1, 0, new byte[40]);
    cache.keep(2, 0, new byte[40]);
    cache.forget(1);
    cache.forget(9);
    assertNull(cache.find(1, 0));
    assertEquals(40, cache.bytes());
    cache.clear();
    assertNull(cache.find(2, 0));
    assertEquals(0, cache.bytes());
  }
}
