package org.vas.layout;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Where a value stands in the site description: {@code hosts[1].address}. */
final class KeyPath implements Comparable<KeyPath> {
  static final KeyPath ROOT = new KeyPath(List.of());

  // An index stands before a key, as in the order of a document.
  private static final Comparator<Object> PARTS =
      Comparator.<Object, Boolean>comparing(part -> part instanceof String)
          .thenComparing(KeyPath::compareSameKind);

  private final List<Object> parts;

  private KeyPath(List<Object> parts) {
    this.parts = parts;
  }

  KeyPath key(String key) {
    return with(key);
  }

  KeyPath index(int index) {
    return with(index);
  }

  boolean isRoot() {
    return parts.isEmpty();
  }

  private KeyPath with(Object part) {
    List<Object> longer = new ArrayList<>(parts);
    longer.add(part);
    return new KeyPath(longer);
  }

  private static int compareSameKind(Object a, Object b) {
    return a instanceof String ? ((String) a).compareTo((String) b) : (Integer) a - (Integer) b;
  }

  @Override
  public int compareTo(KeyPath other) {
    int common = Math.min(parts.size(), other.parts.size());
    for (int i = 0; i < common; i++) {
      int order = PARTS.compare(parts.get(i), other.parts.get(i));
      if (order != 0) {
        return order;
      }
    }
    return parts.size() - other.parts.size();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeyPath && parts.equals(((KeyPath) other).parts);
  }

  @Override
  public int hashCode() {
    return parts.hashCode();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (Object part : parts) {
      if (part instanceof Integer) {
        text.append('[').append(part).append(']');
      } else {
        text.append(text.length() == 0 ? "" : ".").append(part);
      }
    }
    return text.toString();
  }
}
