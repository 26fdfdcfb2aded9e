package org.vas.layout;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A value as an error message shows it: JSON on one line, cut to 80 characters. */
final class ShownValue {
  private static final int MAX = 80;
  private static final String ESCAPED = "\"\\\n\r\t\f\b";
  private static final String ESCAPES = "\"\\nrtfb";

  private ShownValue() {}

  static String of(Object value) {
    String text = json(value);
    return text.codePointCount(0, text.length()) <= MAX
        ? text
        : text.substring(0, text.offsetByCodePoints(0, MAX - 3)) + "...";
  }

  private static String json(Object value) {
    if (value instanceof Map) {
      return ((Map<?, ?>) value).entrySet().stream()
          .map(entry -> json(entry.getKey()) + ": " + json(entry.getValue()))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof List) {
      return ((List<?>) value).stream().map(ShownValue::json)
          .collect(Collectors.joining(", ", "[", "]"));
    }
    if (value instanceof Double) {
      return real((Double) value);
    }
    return value instanceof String ? quoted((String) value) : String.valueOf(value);
  }

  // As Python prints it: 1.5, 1e+20, 1e-07.
  private static String real(double value) {
    if (Double.isInfinite(value)) {
      return value > 0 ? "Infinity" : "-Infinity";
    }
    BigDecimal exact = new BigDecimal(Double.toString(value)).stripTrailingZeros();
    int exponent = exact.precision() - exact.scale() - 1;
    if (value == 0 || (exponent >= -4 && exponent < 16)) {
      String plain = exact.toPlainString();
      String sign = value == 0 && 1 / value < 0 ? "-" : "";
      return sign + plain + (plain.contains(".") ? "" : ".0");
    }
    return exact.movePointLeft(exponent).stripTrailingZeros().toPlainString()
        + String.format("e%s%02d", exponent < 0 ? "-" : "+", Math.abs(exponent));
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      int escape = ESCAPED.indexOf(c);
      if (escape >= 0) {
        out.append('\\').append(ESCAPES.charAt(escape));
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
