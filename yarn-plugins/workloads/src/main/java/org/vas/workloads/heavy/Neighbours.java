package org.vas.workloads.heavy;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;

/** The nodes that have edges to a node, and those that it has edges to. */
public final class Neighbours implements Writable {
  final NameList from = new NameList();
  final NameList to = new NameList();

  void clear() {
    from.clear();
    to.clear();
  }

  void addAll(Neighbours others) {
    from.addAll(others.from);
    to.addAll(others.to);
  }

  @Override
  public void write(DataOutput out) throws IOException {
    from.write(out);
    to.write(out);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    from.readFields(in);
    to.readFields(in);
  }

  /** Returns both sets, with a tab between them. */
  @Override
  public String toString() {
    return from + "\t" + to;
  }
}
