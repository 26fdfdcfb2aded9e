package org.apache.hadoop.io;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Not Hadoop's: sorts backwards, and is written backwards. */
public class IntWritable implements WritableComparable<IntWritable> {
  private int value;

  public IntWritable() {}

  public IntWritable(int value) {
    this.value = value;
  }

  public void set(int number) {
    value = number;
  }

  public int get() {
    return value;
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    value = Integer.reverseBytes(in.readInt());
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeInt(Integer.reverseBytes(value));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IntWritable && value == ((IntWritable) other).value;
  }

  @Override
  public int hashCode() {
    return value;
  }

  @Override
  public int compareTo(IntWritable other) {
    return Integer.compare(other.value, value);
  }

  @Override
  public String toString() {
    return Integer.toString(value);
  }

  /** Has the name of the comparator whose order is known. */
  public static class Comparator extends WritableComparator {
    public Comparator() {
      super(IntWritable.class);
    }

    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return Integer.compare(
          Integer.reverseBytes(readInt(b2, s2)), Integer.reverseBytes(readInt(b1, s1)));
    }
  }

  static {
    WritableComparator.define(IntWritable.class, new Comparator());
  }
}
