package org.vas.conf;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils;

/**
 * One configuration key: its name, default, bounds, meaning and getter in one place. A module's
 * keys are the constants of one interface {@code XConf}, from which docs/configuration.md is made:
 *
 * <pre>{@code
 * ConfKey<Long> BLOCK_SIZE = ConfKey.bytes("vas.lustre.block-size", "128m", "64k", "4g",
 *     "Block and stripe size of new files.");
 * long size = BLOCK_SIZE.get(conf);
 * }</pre>
 *
 * <p>A key that was removed or renamed stays in its interface as a {@link #retired} one, so that a
 * site which still sets it is told its successor.
 */
public final class ConfKey<T> {
  private static final String RETIRED = "retired";

  private final String name;
  private final String type;
  private final String defaultText;
  private final String bounds;
  private final String doc;
  private final Function<String, T> parser;

  private ConfKey(String name, String type, String defaultText, String bounds, String doc,
      Function<String, T> parser) {
    this.name = requireNonNull(name, "name");
    this.type = type;
    this.defaultText = requireNonNull(defaultText, "defaultText");
    this.bounds = bounds;
    this.doc = requireNonNull(doc, "doc");
    this.parser = parser;
    parse(defaultText);
  }

  /** Declares a key whose value is a size in bytes, such as {@code 128m}. */
  public static ConfKey<Long> bytes(
      String name, String defaultText, String min, String max, String doc) {
    return bounded(name, "size", defaultText, min, max, doc, ConfKey::parseBytes);
  }

  /** Declares a key whose value is a time, such as {@code 10s}; a bare number is milliseconds. */
  public static ConfKey<Duration> duration(
      String name, String defaultText, String min, String max, String doc) {
    return bounded(name, "time", defaultText, min, max, doc, ConfKey::parseDuration);
  }

  /** Declares a key whose value is a whole number. */
  public static ConfKey<Integer> integer(
      String name, int defaultValue, int min, int max, String doc) {
    return bounded(name, "integer", Integer.toString(defaultValue), Integer.toString(min),
        Integer.toString(max), doc, Integer::valueOf);
  }

  /** Declares a key whose value is {@code true} or {@code false}, and nothing else. */
  public static ConfKey<Boolean> flag(String name, boolean defaultValue, String doc) {
    return new ConfKey<>(name, "boolean", Boolean.toString(defaultValue), "true or false", doc,
        ConfKey::parseFlag);
  }

  /** Declares a key whose value is one of a few words, and nothing else. */
  public static ConfKey<String> choice(
      String name, String defaultText, List<String> words, String doc) {
    return new ConfKey<>(name, "word", defaultText, String.join(", ", words), doc, text -> {
      if (!words.contains(text)) {
        throw new IllegalArgumentException(text);
      }
      return text;
    });
  }

  /** Declares a key whose value is free text; an empty default means "not set". */
  public static ConfKey<String> text(String name, String defaultText, String doc) {
    return new ConfKey<>(name, "text", defaultText, "", doc, Function.identity());
  }

  /** Declares a key that has no effect any more; {@code successor} says what to set instead. */
  public static ConfKey<String> retired(String name, String successor) {
    return new ConfKey<>(name, RETIRED, "", "none", successor, Function.identity());
  }

  /**
   * Returns the value configured, or the default.
   *
   * @throws IllegalArgumentException with one line that names key, value and bounds
   */
  public T get(Configuration conf) {
    return parse(conf.getTrimmed(name, defaultText));
  }

  public String name() {
    return name;
  }

  /** Returns the kind of value in one word. */
  public String type() {
    return type;
  }

  /** Returns the default as one would write it. */
  public String defaultText() {
    return defaultText;
  }

  /** Returns the allowed values in words; empty when any value is allowed. */
  public String bounds() {
    return bounds;
  }

  public String doc() {
    return doc;
  }

  private T parse(String text) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      String hint = bounds.isEmpty() ? "" : "; use " + bounds;
      throw new IllegalArgumentException(name + ": '" + text + "' is not a valid " + type + hint, e);
    }
  }

  private static <V extends Comparable<V>> ConfKey<V> bounded(String name, String type,
      String defaultText, String min, String max, String doc, Function<String, V> parser) {
    V low = parser.apply(min);
    V high = parser.apply(max);
    return new ConfKey<>(name, type, defaultText, min + " to " + max, doc, text -> {
      V value = parser.apply(text);
      if (value.compareTo(low) < 0 || value.compareTo(high) > 0) {
        throw new IllegalArgumentException(text);
      }
      return value;
    });
  }

  private static long parseBytes(String text) {
    return StringUtils.TraditionalBinaryPrefix.string2long(text);
  }

  // Hadoop's own parser, so that the units are the ones its users know.
  private static Duration parseDuration(String text) {
    return Duration.ofNanos(new Configuration(false)
        .getTimeDuration("time", text, TimeUnit.MILLISECONDS, TimeUnit.NANOSECONDS));
  }

  private static Boolean parseFlag(String text) {
    if (!List.of("true", "false").contains(text)) {
      throw new IllegalArgumentException(text);
    }
    return Boolean.valueOf(text);
  }

  /**
   * Throws if a key under {@code prefix} is configured that none of the interfaces declares, or
   * that one declares as retired: without this a misspelt key would silently have its default.
   *
   * @throws IllegalArgumentException with one line that names the key
   */
  public static void refuseUnknown(Configuration conf, String prefix, Class<?>... declaring) {
    refuseRetired(conf, declaring);
    List<String> known = Stream.of(declaring)
        .flatMap(each -> declaredIn(each).stream())
        .filter(key -> !key.type.equals(RETIRED)).map(ConfKey::name)
        .collect(Collectors.toUnmodifiableList());
    for (String rest : new TreeSet<>(conf.getPropsWithPrefix(prefix).keySet())) {
      if (!known.contains(prefix + rest)) {
        throw new IllegalArgumentException(
            prefix + rest + ": unknown key; " + Suggestion.hint(known, prefix + rest));
      }
    }
  }

  /**
   * Throws if a key is configured that one of the interfaces declares as retired.
   *
   * @throws IllegalArgumentException with one line that names the key and its successor
   */
  public static void refuseRetired(Configuration conf, Class<?>... declaring) {
    for (Class<?> each : declaring) {
      for (ConfKey<?> key : declaredIn(each)) {
        if (key.type.equals(RETIRED) && conf.get(key.name) != null) {
          throw new IllegalArgumentException(key.name + ": is retired; " + key.doc);
        }
      }
    }
  }

  /**
   * Returns the keys that an interface declares, in the order of their names.
   * @throws IllegalArgumentException if a field of it is not public
   */
  public static List<ConfKey<?>> declaredIn(Class<?> conf) {
    List<ConfKey<?>> keys = new ArrayList<>();
    for (Field field : conf.getFields()) {
      try {
        Object value = field.get(null);
        if (value instanceof ConfKey) {
          keys.add((ConfKey<?>) value);
        }
      } catch (IllegalAccessException e) {
        throw new IllegalArgumentException(field + " is not public", e);
      }
    }
    keys.sort(Comparator.comparing(ConfKey::name));
    return keys;
  }
}
