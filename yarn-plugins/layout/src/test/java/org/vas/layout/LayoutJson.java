package org.vas.layout;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes a layout as the JSON that {@code vas layout decode} prints. */
final class LayoutJson {
  private LayoutJson() {}

  static Map<String, Object> of(StripeLayout layout) {
    if (layout instanceof PlainLayout) {
      return plain((PlainLayout) layout);
    }
    return layout instanceof CompositeLayout
        ? composite((CompositeLayout) layout)
        : foreign((ForeignLayout) layout);
  }

  private static Map<String, Object> plain(PlainLayout layout) {
    Map<String, Object> json = typed("plain");
    json.put("magic", layout.magic());
    json.put("pattern", layout.patternNames());
    json.put("stripe_size", layout.stripeSize());
    json.put("stripe_count", layout.stripeCount());
    json.put("stripe_offset", layout.stripeOffset().map(Integer::toUnsignedLong).orElse(null));
    json.put("layout_gen", layout.generation());
    json.put("pool", layout.pool().orElse(null));
    json.put("objects", layout.objects().stream()
        .map(object -> Map.of("ost_idx", Integer.toUnsignedLong(object.ostIndex()), "fid", object.fid()))
        .collect(Collectors.toList()));
    return json;
  }

  private static Map<String, Object> composite(CompositeLayout layout) {
    Map<String, Object> json = typed("composite");
    json.put("layout_gen", layout.generation());
    json.put("flags", layout.flags());
    json.put("mirror_count", layout.mirrorCount());
    List<Object> components = layout.components().stream().map(LayoutJson::component)
        .collect(Collectors.toList());
    json.put("components", components);
    return json;
  }

  private static Map<String, Object> component(LayoutComponent component) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", component.id());
    json.put("mirror_id", component.mirrorId());
    json.put("flags", component.flagNames());
    json.put("extent_start", unsigned(component.storedStart()));
    json.put("extent_end", component.storedEnd() == -1 ? null : unsigned(component.storedEnd()));
    json.put("layout", of(component.layout()));
    return json;
  }

  private static Map<String, Object> foreign(ForeignLayout layout) {
    StringBuilder hex = new StringBuilder();
    for (byte b : layout.value()) {
      hex.append(String.format("%02x", b));
    }
    Map<String, Object> json = typed("foreign");
    json.put("foreign_type", layout.type());
    json.put("flags", layout.flags());
    json.put("value_hex", hex.toString());
    return json;
  }

  /** The same value with every number of one class, so that it can be compared. */
  static Object comparable(Object value) {
    if (value instanceof Map) {
      Map<Object, Object> members = new HashMap<>();
      ((Map<?, ?>) value).forEach((key, member) -> members.put(key, comparable(member)));
      return members;
    }
    if (value instanceof List) {
      return ((List<?>) value).stream().map(LayoutJson::comparable).collect(Collectors.toList());
    }
    return value instanceof Number ? new BigInteger(value.toString()) : value;
  }

  private static BigInteger unsigned(long value) {
    return new BigInteger(Long.toUnsignedString(value));
  }

  private static Map<String, Object> typed(String type) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("type", type);
    return json;
  }
}
