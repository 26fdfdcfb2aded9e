package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.order.KeyOrder;

/** Serialisers see the same count of bytes in the stream that they write to as in stock. */
class CountedBytesTest {
  private static final int METHODS = 14;
  private static final int RECORDS = 300;

  private static void write(DataOutputStream out, int method) throws IOException {
    byte[] bytes = new byte[method * 1000];
    switch (method) {
      case 0: out.write(7); break;
      case 1: out.write(bytes); break;
      case 2: out.write(bytes, 1, bytes.length / 2 + 1 - method); break;
      case 3: out.writeBoolean(true); break;
      case 4: out.writeByte(7); break;
      case 5: out.writeShort(7); break;
      case 6: out.writeChar('x'); break;
      case 7: out.writeInt(7); break;
      case 8: out.writeLong(7); break;
      case 9: out.writeFloat(7); break;
      case 10: out.writeDouble(7); break;
      case 11: out.writeBytes("some bytes"); break;
      case 12: out.writeChars("some chars"); break;
      default: out.writeUTF("some text, with \u00e4"); break;
    }
  }

  @Property(tries = 200)
  void N1_sizeIsThatOfADataOutputStream(
      @ForAll List<@IntRange(max = METHODS - 1) Integer> methods) throws IOException {
    BufferMemory memory = new BufferMemory(1 << 20);
    Entries entries = new Entries(1, memory);
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(BytesWritable.class);
    RecordBuffer[] buffer = new RecordBuffer[1];
    buffer[0] = new RecordBuffer(memory, entries, KeyOrder.of(job), () -> buffer[0].clear());
    DataOutputStream stock = new DataOutputStream(OutputStream.nullOutputStream());
    for (int method : methods) {
      buffer[0].begin();
      buffer[0].writeInt(0);
      buffer[0].endKey();
      write(buffer[0], method);
      buffer[0].end(0);
      stock.writeInt(0);
      write(stock, method);
      assertEquals(stock.size(), buffer[0].size(), () -> "after method " + method);
    }
  }

  @Test
  void N1_sizeStaysAtTheLargestInt() throws IOException {
    BufferMemory memory = new BufferMemory(64 << 20);
    RecordBuffer buffer = new RecordBuffer(memory, new Entries(1, memory),
        KeyOrder.of(bytesJob()), () -> {});
    byte[] large = new byte[32 << 20];
    for (int i = 0; i < 65; i++) {
      buffer.begin();
      buffer.write(large);
    }
    assertEquals(Integer.MAX_VALUE, buffer.size());
  }

  private static JobConf bytesJob() {
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(BytesWritable.class);
    return job;
  }

  /** A value that is the count of bytes before it. */
  public static final class Position implements Writable {
    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(((DataOutputStream) out).size());
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      in.readInt();
    }
  }

  @Test
  void N1_aSerialiserThatAsksGetsStocksAnswer(@TempDir Path directory) throws Exception {
    JobConf job = MapRun.job(directory);
    job.setMapOutputValueClass(Position.class);
    Emitter.Script script = output -> {
      for (int i = 0; i < RECORDS; i++) {
        output.emit(new Text("key" + i), new Position());
      }
    };
    MapRun.of(job, script);
    MapRun stock = MapRun.stock(job, script);
    List<WrittenOutput.Record> ours =
        WrittenOutput.records(job, WrittenOutput.manifest(job), 0);
    assertEquals(RECORDS, ours.size());
    assertTrue(WrittenOutput.stock(stock.job(), 0).equals(ours), "another count of bytes");
  }
}
