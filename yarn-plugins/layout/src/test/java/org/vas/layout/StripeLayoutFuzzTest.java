package org.vas.layout;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.vas.testing.Repository;

/**
 * Any bytes decode to a layout, or to a LayoutException of one line, in memory proportional to
 * them.
 */
class StripeLayoutFuzzTest {
  private static final long ALLOCATED_PER_BYTE = 40;
  // Classes are loaded at the cost of whichever sample comes first.
  private static final long ALLOCATED_AT_LEAST = 4 << 20;

  private final List<byte[]> vectors = vectors();

  @Property
  void anyBytes(@ForAll @Size(max = 300) byte[] bytes) {
    decode(bytes);
  }

  @Property
  void anyBytesAfterMagic(
      @ForAll("magics") int magic, @ForAll @Size(min = 4, max = 300) byte[] bytes) {
    byte[] changed = bytes.clone();
    putInt(changed, 0, magic);
    decode(changed);
  }

  @Property(tries = 3000)
  void vectorsWithWordsChanged(@ForAll @IntRange(max = 1 << 20) int which,
      @ForAll @Size(min = 1, max = 4) List<@IntRange(max = 1 << 20) Integer> places,
      @ForAll("words") int word) {
    byte[] changed = vectors.get(which % vectors.size()).clone();
    for (int place : places) {
      putInt(changed, place % (changed.length - 3), word);
    }
    decode(changed);
  }

  @Property
  void vectorsCutOrPadded(@ForAll @IntRange(max = 1 << 20) int which,
      @ForAll @IntRange(max = 70_000) int length) {
    byte[] whole = vectors.get(which % vectors.size());
    decode(Arrays.copyOf(whole, length));
    decode(Arrays.copyOf(whole, length % (whole.length + 1)));
  }

  @Provide
  Arbitrary<Integer> magics() {
    return Arbitraries.of(LayoutBits.MAGIC_V1, LayoutBits.MAGIC_V3, LayoutBits.MAGIC_SPECIFIC,
        LayoutBits.MAGIC_COMPOSITE, LayoutBits.MAGIC_COMPOSITE_SEL, LayoutBits.MAGIC_FOREIGN);
  }

  @Provide
  Arbitrary<Integer> words() {
    return Arbitraries.oneOf(Arbitraries.integers(), magics(),
        Arbitraries.of(0, 1, -1, 0xFFFF, 0xFFFF0000, Integer.MIN_VALUE, Integer.MAX_VALUE));
  }

  private static void decode(byte[] bytes) {
    long before = allocated();
    try {
      use(StripeLayout.decode(bytes));
    } catch (LayoutException e) {
      String line = String.valueOf(e.getMessage());
      assertFalse(line.isBlank() || line.contains("\n"), line);
    }
    long used = allocated() - before;
    long limit = ALLOCATED_AT_LEAST + ALLOCATED_PER_BYTE * bytes.length;
    assertTrue(used < limit, () -> used + " bytes allocated for " + bytes.length);
  }

  // What decodes must also answer: a range of two stripe sizes anywhere has few owners.
  private static void use(StripeLayout layout) {
    for (long offset : new long[] {0, 1 << 20, Long.MAX_VALUE - 5}) {
      long end = offset;
      for (StripeRun run : layout.ownersOf(offset, 5)) {
        assertTrue(run.offset() == end && run.length() > 0, run::toString);
        end = run.end();
      }
      assertTrue(end == offset + 5 || end == Long.MAX_VALUE, "the range is not covered");
    }
  }

  private static long allocated() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  private static void putInt(byte[] bytes, int at, int value) {
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes[at + i] = (byte) (value >> (8 * i));
    }
  }

  private static List<byte[]> vectors() {
    try {
      List<byte[]> vectors = new ArrayList<>();
      for (Path file : Repository.files("lustre-layout/vectors", ".bin")) {
        vectors.add(Files.readAllBytes(file));
      }
      return vectors;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
