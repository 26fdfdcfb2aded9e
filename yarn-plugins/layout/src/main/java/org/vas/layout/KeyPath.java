package org.vas.layout;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/** Where a value stands in the site description: {@code hosts[1].address}. */
final class KeyPath implements Comparable<KeyPath> {
  static final KeyPath ROOT = new KeyPath(null, "");

  // An index stands before a key, as in the order of a document.
  private static final Comparator<Object> PARTS =
      Comparator.<Object, Boolean>comparing(part -> part instanceof String)
          .thenComparing(KeyPath::compareSameKind);

  // Linked towards the root: every value read has a path, and hardly one is ever printed.
  private final KeyPath parent;
  private final Object part;

  private KeyPath(KeyPath parent, Object part) {
    this.parent = parent;
    this.part = part;
  }

  KeyPath key(String key) {
    return new KeyPath(this, key);
  }

  KeyPath index(int index) {
    return new KeyPath(this, index);
  }

  boolean isRoot() {
    return parent == null;
  }

  private List<Object> parts() {
    Deque<Object> parts = new ArrayDeque<>();
    for (KeyPath at = this; !at.isRoot(); at = at.parent) {
      parts.addFirst(at.part);
    }
    return new ArrayList<>(parts);
  }

  private static int compareSameKind(Object a, Object b) {
    return a instanceof String ? ((String) a).compareTo((String) b) : (Integer) a - (Integer) b;
  }

  @Override
  public int compareTo(KeyPath other) {
    List<Object> mine = parts();
    List<Object> theirs = other.parts();
    int common = Math.min(mine.size(), theirs.size());
    for (int i = 0; i < common; i++) {
      int order = PARTS.compare(mine.get(i), theirs.get(i));
      if (order != 0) {
        return order;
      }
    }
    return mine.size() - theirs.size();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeyPath && parts().equals(((KeyPath) other).parts());
  }

  @Override
  public int hashCode() {
    return parts().hashCode();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (Object each : parts()) {
      if (each instanceof Integer) {
        text.append('[').append(each).append(']');
      } else {
        text.append(text.length() == 0 ? "" : ".").append(each);
      }
    }
    return text.toString();
  }
}
