package org.vas.shuffle.map;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.vas.shuffle.mof.VInts;
import org.vas.shuffle.order.KeyOrder;

/**
 * Serialised records, as IFile has them, each whole in one block of bytes.
 *
 * <p>A record is made by {@link #begin}, serialising the key, {@link #endKey}, serialising the
 * value, {@link #end}. When memory runs out, {@link Full} is called, even amid a record; what was
 * serialised of that one stays. One thread at a time, so nothing here locks as its parent does.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized")
final class RecordBuffer extends DataOutputStream {
  private static final int SMALLEST_BLOCK = 64 << 10;
  private static final int USUAL_BLOCK = 1 << 20;
  private static final int LARGEST_BLOCK = 32 << 20;
  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

  /** Writes all complete records as a run, then calls {@link RecordBuffer#clear}. */
  interface Full {
    void spill() throws IOException;
  }

  private final BufferMemory memory;
  private final Entries entries;
  private final KeyOrder order;
  private final Full full;
  private final List<byte[]> blocks = new ArrayList<>();
  private byte[] block = new byte[0];
  private int index;
  private int position;
  private int recordStart;
  private int keyStart;
  private int valueStart;
  private int usualHeader = 2;
  private long bytes;

  RecordBuffer(BufferMemory memory, Entries entries, KeyOrder order, Full full) {
    super(OutputStream.nullOutputStream());
    this.out = new Uncounted();
    this.memory = memory;
    this.entries = entries;
    this.order = order;
    this.full = full;
    blocks.add(block);
  }

  /** Starts a record; an unfinished one is forgotten. */
  void begin() throws IOException {
    position = recordStart;
    if (!entries.makeRoom()) {
      spill();
    }
    makeRoom(usualHeader);
    position += usualHeader;
    keyStart = position;
  }

  void endKey() {
    valueStart = position;
  }

  /** Completes the record; returns its bytes, of which {@link #headerBytes} are lengths. */
  int end(int partition) throws IOException {
    int keyLength = valueStart - keyStart;
    int valueLength = position - valueStart;
    int header = VInts.size(keyLength) + VInts.size(valueLength);
    if (header != keyStart - recordStart) {
      shift(header - usualHeader);
      usualHeader = header;
    }
    VInts.put(block, VInts.put(block, recordStart, keyLength), valueLength);
    entries.add(order.prefix(block, keyStart, keyLength), partition, index, recordStart);
    int length = position - recordStart;
    bytes += length;
    recordStart = position;
    return length;
  }

  /** Returns the complete records; valid until {@link #clear}. */
  Records records() {
    return new Records(blocks);
  }

  /** Returns the number of bytes of all complete records, with their lengths. */
  long bytes() {
    return bytes;
  }

  /** Returns whether the only record is one that is larger than the memory. */
  boolean isOversized() {
    return memory.isExceeded();
  }

  /** Returns the number of bytes of the header of the last record. */
  int headerBytes() {
    return usualHeader;
  }

  /** Calls {@link Full} if the last record was larger than the memory. */
  void settle() throws IOException {
    if (memory.isExceeded()) {
      full.spill();
    }
  }

  /** Gives unused memory back; returns the bytes that are free then. */
  long trim() {
    dropSpares();
    return Math.max(0, memory.free());
  }

  /** Removes all complete records; the one being written moves to the start. */
  void clear() {
    entries.clear();
    bytes = 0;
    blocks.remove(index);
    blocks.add(0, block);
    System.arraycopy(block, recordStart, block, 0, position - recordStart);
    keyStart -= recordStart;
    valueStart -= recordStart;
    position -= recordStart;
    recordStart = 0;
    index = 0;
    if (memory.free() < Entries.PAGE_BYTES && position == 0) {
      free();
    }
  }

  /** Drops all records and gives all memory of the buffer back. */
  void free() {
    dropSpares();
    memory.give(block.length);
    block = new byte[0];
    blocks.set(0, block);
  }

  @Override
  public void write(int value) throws IOException {
    put(value);
    count(1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    put(bytes, offset, length);
    count(length);
  }

  @Override
  public void write(byte[] bytes) throws IOException {
    write(bytes, 0, bytes.length);
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}

  /** What the parent's other methods write to: they count themselves. */
  private final class Uncounted extends OutputStream {
    @Override
    public void write(int value) throws IOException {
      put(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      put(bytes, offset, length);
    }
  }

  private void put(int value) throws IOException {
    if (position == block.length) {
      makeRoom(1);
    }
    block[position++] = (byte) value;
  }

  private void put(byte[] bytes, int offset, int length) throws IOException {
    makeRoom(length);
    System.arraycopy(bytes, offset, block, position, length);
    position += length;
  }

  // For size(): as in the parent, all bytes that were ever written, and no more than an int holds.
  private void count(int length) {
    int sum = written + length;
    written = sum < 0 ? Integer.MAX_VALUE : sum;
  }

  // The header turned out longer or shorter than the one reserved.
  private void shift(int by) throws IOException {
    makeRoom(Math.max(by, 0));
    System.arraycopy(block, keyStart, block, keyStart + by, position - keyStart);
    keyStart += by;
    valueStart += by;
    position += by;
  }

  private void makeRoom(int length) throws IOException {
    if (length <= block.length - position) {
      return;
    }
    if (moveOn(needed(length))) {
      return;
    }
    if (entries.count() > 0) {
      spill();
    }
    if (length > block.length - position && !moveOn(needed(length))) {
      dropSpares();
      long size = size(needed(length), 0);
      memory.takeOver(size);
      enter(new byte[(int) size]);
    }
  }

  private void spill() throws IOException {
    full.spill();
    if (!entries.makeRoom()) {
      throw new IllegalStateException("no memory for the order of records: " + memory.free());
    }
  }

  private long needed(int length) throws IOException {
    long needed = (long) position - recordStart + length;
    if (needed > LARGEST_ARRAY) {
      throw new IOException("a record of more than " + LARGEST_ARRAY
          + " bytes; key and value together have to stay below 2 GiB");
    }
    return needed;
  }

  // Goes on in a block with room for so much of the record in the making; false: no memory.
  private boolean moveOn(long needed) {
    for (int i = index + 1; i < blocks.size(); i++) {
      if (blocks.get(i).length >= needed) {
        enter(blocks.remove(i));
        return true;
      }
    }
    if (blocks.size() == Entries.MAX_BLOCKS) {
      return false;
    }
    long size = size(needed, usualSize());
    if (!memory.take(size)) {
      dropSpares();
      size = size(needed, 0);
      if (size > memory.free() - Entries.PAGE_BYTES || !memory.take(size)) {
        return false;
      }
    }
    enter(new byte[(int) size]);
    return true;
  }

  // A record that outgrew a block of its own takes the block's place, and grows by half at least.
  private long size(long needed, long usual) {
    long grown = recordStart == 0 ? block.length + block.length / 2L : 0;
    long size = Math.max(Math.max(needed + SMALLEST_BLOCK, usual), grown);
    return Math.min(size, LARGEST_ARRAY);
  }

  // Blocks grow with the buffer: a small map takes little. Half of what is free stays for order.
  private long usualSize() {
    long held = blocks.stream().mapToLong(b -> b.length).sum();
    long usual = Math.min(Math.max(held, USUAL_BLOCK), LARGEST_BLOCK);
    return Math.min(usual, memory.free() / 2);
  }

  private void enter(byte[] next) {
    int length = position - recordStart;
    System.arraycopy(block, recordStart, next, 0, length);
    if (recordStart == 0) {
      memory.give(block.length);
      blocks.set(index, next);
    } else {
      blocks.add(++index, next);
    }
    keyStart -= recordStart;
    valueStart -= recordStart;
    position = length;
    recordStart = 0;
    block = next;
  }

  private void dropSpares() {
    while (blocks.size() > index + 1) {
      memory.give(blocks.remove(blocks.size() - 1).length);
    }
  }
}
