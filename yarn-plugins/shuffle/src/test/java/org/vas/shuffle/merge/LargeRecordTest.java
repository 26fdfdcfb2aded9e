package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.WritableUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.VInts;

/** Computes with sizes near the largest that an int holds, without the memory. */
class LargeRecordTest {
  private static final int GIB = 1 << 30;

  @ParameterizedTest
  @ValueSource(ints = {0, 127, 128, 255, 256, GIB - 1, GIB, GIB + 1, Integer.MAX_VALUE})
  void lengthsAreHadoops(int length) throws IOException {
    ByteArrayOutputStream hadoops = new ByteArrayOutputStream();
    WritableUtils.writeVInt(new DataOutputStream(hadoops), length);
    byte[] ours = new byte[10];
    int end = VInts.put(ours, 0, length);
    assertEquals(List.of(hadoops.size(), hadoops.size(), hadoops.size(), length),
        List.of(end, VInts.size(length), VInts.sizeAt(ours, 0), VInts.get(ours, 0)));
    assertTrue(Arrays.equals(hadoops.toByteArray(), Arrays.copyOf(ours, end)));
  }

  @Test
  void theSizeOfTwoGibibytesIsNoNegativeNumber() {
    assertEquals(2L * GIB + 10, RawSize.of(GIB, GIB));
    assertEquals(2L * Integer.MAX_VALUE + 10, RawSize.of(Integer.MAX_VALUE, Integer.MAX_VALUE));
  }

  /** Key and value fit an int each, and no array together. */
  @ParameterizedTest
  @CsvSource({"1073741824, 1073741824", "2147483647, 2147483647", "2147483647, 1",
    "1, 2147483647", "1073741824, 1073741815"})
  void aRecordLargerThanAnArrayIsRefusedBeforeItIsAllocated(int key, int value)
      throws IOException {
    for (int size : new int[] {1, 64}) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      WritableUtils.writeVInt(out, key);
      WritableUtils.writeVInt(out, value);
      out.write(new byte[100]);
      RecordCursor cursor = new RecordCursor(
          "test", new PiecesOf(bytes.toByteArray(), size), 1, Long.MAX_VALUE);
      IOException e = assertThrows(IOException.class, cursor::next);
      assertTrue(e.getMessage().startsWith("test: impossible record 1"), e::getMessage);
    }
  }

  @Test
  void segmentsOfGibibytesArePlannedInLongs() {
    SegmentFile huge = new SegmentFile(new Path("/x"),
        new Segment(0, 0, 0, 0, 4L * GIB, 4L * GIB, 1,
            new int[(int) Segment.checksumsOf(4L * GIB)]));
    MemoryPlan plan = new MemoryPlan(8 << 20, 1 << 20, 0);
    assertEquals(1 << 20, plan.bufferBytes(List.of(huge, huge)));
    assertEquals(2L << 20, ReadAhead.memory(huge.segment(), 1 << 20));
    assertEquals(List.of(3L, 4L * GIB),
        PassPlan.next(List.of(Long.MAX_VALUE / 4, 3L, 4L * GIB), bytes -> bytes, 2, 2));
  }
}
