package org.vas.workloads.heavy;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;

/** A set of names, in memory; written in the order of their bytes. */
public final class NameList implements Writable {
  private List<Text> names = new ArrayList<>();
  private boolean isSorted = true;

  /** Adds a copy of a name. */
  void add(Text name) {
    names.add(new Text(name));
    isSorted = names.size() == 1;
  }

  /** Adds the names of another set, without copying them: names never change. */
  void addAll(NameList others) {
    isSorted = others.names.isEmpty() ? isSorted : names.isEmpty() && others.isSorted;
    names.addAll(others.names);
  }

  void clear() {
    names = new ArrayList<>();
    isSorted = true;
  }

  /** Returns each name once, in order. */
  List<Text> sorted() {
    if (!isSorted) {
      names.sort(null);
      names = withoutRepeats(names);
      isSorted = true;
    }
    return names;
  }

  private static List<Text> withoutRepeats(List<Text> sorted) {
    List<Text> kept = new ArrayList<>(sorted.size());
    for (Text name : sorted) {
      if (kept.isEmpty() || !name.equals(kept.get(kept.size() - 1))) {
        kept.add(name);
      }
    }
    return kept;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeVInt(out, sorted().size());
    for (Text name : sorted()) {
      name.write(out);
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    clear();
    for (int left = WritableUtils.readVInt(in); left > 0; left--) {
      Text name = new Text();
      name.readFields(in);
      names.add(name);
    }
  }

  /** Returns the names in order, with commas between them. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (Text name : sorted()) {
      text.append(text.length() == 0 ? "" : ",").append(name);
    }
    return text.toString();
  }
}
