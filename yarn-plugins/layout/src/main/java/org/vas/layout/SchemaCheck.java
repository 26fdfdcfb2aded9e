package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Checks a document against the part of JSON Schema that {@code cluster.schema.json} uses. */
final class SchemaCheck {
  private final Map<?, ?> schema;
  private final List<Problem> problems;
  private final Map<String, Pattern> patterns = new HashMap<>();

  private SchemaCheck(Map<?, ?> schema, List<Problem> problems) {
    this.schema = schema;
    this.problems = problems;
  }

  /** Appends what is wrong with the structure of a site description. */
  static void check(Cursor document, List<Problem> problems) {
    Map<?, ?> schema = schema();
    new SchemaCheck(schema, problems).check(document, schema, "the site");
  }

  // JSON is YAML.
  private static Map<?, ?> schema() {
    try (InputStream in = SchemaCheck.class.getResourceAsStream("cluster.schema.json")) {
      LoadSettings settings = LoadSettings.builder().build();
      return (Map<?, ?>) new Load(settings).loadFromInputStream(requireNonNull(in, "schema"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void check(Cursor at, Map<?, ?> use, String doc) {
    Map<?, ?> rule = resolve(use);
    if (rule.containsKey("enum")) {
      require(((List<?>) rule.get("enum")).contains(at.value()), at, "is not valid", doc);
      return;
    }
    switch ((String) rule.get("type")) {
      case "object":
        checkMapping(at, rule, doc);
        break;
      case "array":
        checkList(at, rule, doc);
        break;
      case "integer":
        checkInteger(at, rule, doc);
        break;
      case "string":
        checkString(at, rule, doc);
        break;
      default:
        throw new IllegalStateException("the schema has a type that is not known: " + rule);
    }
  }

  private Map<?, ?> resolve(Map<?, ?> use) {
    Object reference = use.get("$ref");
    if (reference == null) {
      return use;
    }
    String name = ((String) reference).substring("#/$defs/".length());
    return (Map<?, ?>) ((Map<?, ?>) schema.get("$defs")).get(name);
  }

  private void checkMapping(Cursor at, Map<?, ?> rule, String doc) {
    if (!require(at.value() instanceof Map, at, "is not a mapping", doc)) {
      return;
    }
    Map<?, ?> properties = (Map<?, ?>) rule.get("properties");
    properties.forEach((key, use) -> {
      Cursor member = at.get((String) key);
      String description = String.valueOf(((Map<?, ?>) use).get("description"));
      if (member.exists()) {
        check(member, (Map<?, ?>) use, description);
      } else if (((List<?>) rule.get("required")).contains(key)) {
        problems.add(new Problem(member.path(), "is missing", "add " + description));
      }
    });
    checkUnknown(at, properties);
  }

  private void checkUnknown(Cursor at, Map<?, ?> properties) {
    List<String> known = properties.keySet().stream().map(String.class::cast)
        .collect(Collectors.toUnmodifiableList());
    for (Object key : ((Map<?, ?>) at.value()).keySet()) {
      if (!known.contains(key)) {
        String fix = Suggestion.among(known, (String) key)
            .map(word -> "did you mean " + word + "?")
            .orElse("known keys: " + String.join(", ", known));
        problems.add(new Problem(at.get((String) key).path(), "unknown key", fix));
      }
    }
  }

  private void checkList(Cursor at, Map<?, ?> rule, String doc) {
    if (!require(at.value() instanceof List, at, "is not a list", doc)) {
      return;
    }
    if (at.items().isEmpty() && rule.containsKey("minItems")) {
      problems.add(new Problem(at.path(), "is empty", "expected " + doc));
    }
    at.items().forEach(item -> check(item, (Map<?, ?>) rule.get("items"), doc));
  }

  private void checkInteger(Cursor at, Map<?, ?> rule, String doc) {
    if (require(at.value() instanceof BigInteger, at, "is not an integer", doc)) {
      BigDecimal value = new BigDecimal((BigInteger) at.value());
      Object min = rule.get("minimum");
      Object max = rule.get("maximum");
      require(min == null || value.compareTo(decimal(min)) >= 0, at, "is less than " + min, doc);
      require(max == null || value.compareTo(decimal(max)) <= 0, at, "is more than " + max, doc);
    }
  }

  private void checkString(Cursor at, Map<?, ?> rule, String doc) {
    if (require(at.value() instanceof String, at, "is not a string", doc)) {
      require(matches(rule, at.text()), at, "is not valid", doc);
    }
  }

  private boolean matches(Map<?, ?> rule, String text) {
    String pattern = (String) rule.get("pattern");
    boolean fits = pattern == null
        || patterns.computeIfAbsent(pattern, SchemaCheck::compile).matcher(text).find();
    return fits && hasFormat(rule.get("format"), text);
  }

  private static boolean hasFormat(Object format, String text) {
    if ("ip".equals(format)) {
      return IpText.isAddress(text);
    }
    // Other NIDs than IPv6 ones are held by their pattern.
    return !"nid".equals(format) || text.indexOf(':') < 0
        || IpText.isAddress(text.substring(0, text.indexOf('@')));
  }

  // In JSON Schema $ is the very end; Java would allow a line break before it.
  private static Pattern compile(String pattern) {
    return Pattern.compile(pattern.replaceFirst("\\$$", "\\\\z"));
  }

  private static BigDecimal decimal(Object number) {
    return new BigDecimal(number.toString());
  }

  private boolean require(boolean holds, Cursor at, String what, String doc) {
    if (!holds) {
      String shown = ShownValue.of(at.value());
      problems.add(new Problem(at.path(), shown + " " + what, "expected " + doc));
    }
    return holds;
  }
}
