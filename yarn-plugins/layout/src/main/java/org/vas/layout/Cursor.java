package org.vas.layout;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A value of the site description together with where it stands; the value may be absent. */
final class Cursor {
  private final KeyPath path;
  private final Object value;

  private Cursor(KeyPath path, Object value) {
    this.path = path;
    this.value = value;
  }

  static Cursor root(Object value) {
    return new Cursor(KeyPath.ROOT, value);
  }

  KeyPath path() {
    return path;
  }

  Object value() {
    return value;
  }

  boolean exists() {
    return value != null;
  }

  /** The value of a key; absent in a mapping without it and in what is no mapping. */
  Cursor get(String key) {
    return new Cursor(path.key(key), value instanceof Map ? ((Map<?, ?>) value).get(key) : null);
  }

  /** The members of a list; none of what is no list. */
  List<Cursor> items() {
    List<Cursor> items = new ArrayList<>();
    if (value instanceof List) {
      for (Object item : (List<?>) value) {
        items.add(new Cursor(path.index(items.size()), item));
      }
    }
    return items;
  }

  String text() {
    return (String) value;
  }

  int number() {
    return ((Number) value).intValue();
  }
}
