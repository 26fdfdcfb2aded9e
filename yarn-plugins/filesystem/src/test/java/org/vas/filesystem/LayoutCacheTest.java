package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.vas.layout.PlainLayout;

class LayoutCacheTest {
  private final AtomicLong nanos = new AtomicLong();
  private final LayoutCache cache = new LayoutCache(
      new LustreFiles(TestMount.MDS), 10, Duration.ofSeconds(60), nanos::get);

  // The release of an archived file is such a change.
  @Test
  void aChangeThatLeavesTheCtimeAloneIsNoticedAfterTheTtl() throws IOException {
    Path file = Files.createFile(TestMount.mount(TestMount.configuration()).resolve("a"));
    TestMount.MDS.put(file, LovBytes.plain(1 << 20, 0));
    FileId found = FileId.of(file);
    assertEquals(1, objects(file));
    TestMount.MDS.put(file, LovBytes.plain(1 << 20, 0, 1));
    assertEquals(found.changedNanos(), FileId.of(file).changedNanos());

    nanos.set(Duration.ofSeconds(60).toNanos() - 1);
    assertEquals(1, objects(file));
    nanos.incrementAndGet();
    assertEquals(2, objects(file));
  }

  private int objects(Path file) throws IOException {
    Optional<PlainLayout> layout =
        cache.layoutOf(file, FileId.of(file)).flatMap(found -> found.at(0));
    assertTrue(layout.isPresent());
    return layout.get().objects().size();
  }
}
