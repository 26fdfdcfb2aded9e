package org.vas.shuffle.map;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.map.WrittenOutput.Record;
import org.vas.shuffle.mof.VInts;
import org.vas.shuffle.order.KeyOrder;

/** A buffer of records whose values are their numbers. */
final class Filled {
  private final List<Record> expected = new ArrayList<>();
  private final Records records;
  private final long[] sorted;

  Filled(JobConf job, List<? extends Writable> keys) throws IOException {
    BufferMemory memory = new BufferMemory(64 << 20);
    Entries entries = new Entries(1, memory);
    RecordBuffer buffer = new RecordBuffer(memory, entries, KeyOrder.of(job), () -> {
      throw new IOException("full");
    });
    for (int i = 0; i < keys.size(); i++) {
      buffer.begin();
      keys.get(i).write(buffer);
      buffer.endKey();
      buffer.writeInt(i);
      buffer.end(0);
      DataOutputBuffer one = new DataOutputBuffer();
      keys.get(i).write(one);
      int end = one.getLength();
      one.writeInt(i);
      expected.add(record(one.getData(), 0, end));
    }
    this.records = buffer.records();
    this.sorted = entries.byPartition();
  }

  Records records() {
    return records;
  }

  long[] sorted() {
    return sorted;
  }

  /** The records in the order of the job's comparator. */
  List<Record> expected(JobConf job) {
    return WrittenOutput.sorted(job, expected);
  }

  /** The records in the order of the entries. */
  List<Record> actual() {
    List<Record> actual = new ArrayList<>();
    for (int i = 0; i < sorted.length; i += 2) {
      byte[] block = records.block(sorted[i + 1]);
      int offset = Entries.offset(sorted[i + 1]);
      int key = Records.keyOffset(block, offset);
      actual.add(record(block, key, key + VInts.get(block, offset)));
    }
    return actual;
  }

  private static Record record(byte[] bytes, int from, int valueFrom) {
    return new Record(Arrays.copyOfRange(bytes, from, valueFrom),
        Arrays.copyOfRange(bytes, valueFrom, valueFrom + Integer.BYTES));
  }
}
