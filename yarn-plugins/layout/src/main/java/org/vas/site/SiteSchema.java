package org.vas.site;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.vas.conf.Suggestion;

/**
 * Checks a site description against {@code cluster.schema.json}, which is generated from the Python
 * model: keys, types, {@code pattern}, {@code minimum} and {@code maximum}. The rest of the schema
 * is left to {@code vas cluster check}.
 */
final class SiteSchema {
  // As many as Python's reader takes: aliases may expand to far more than the file's size.
  private static final int MAX_VALUES = 2_000_000;

  private final Map<?, ?> schema;
  private final Map<String, Pattern> patterns = new HashMap<>();
  private int values;

  private SiteSchema(Map<?, ?> schema) {
    this.schema = schema;
  }

  /**
   * Checks a whole document.
   *
   * @throws ClusterMapException with file, line and path of the first value that is refused
   */
  static void check(SiteValue document) throws ClusterMapException {
    // JSON is YAML.
    try (InputStream in = SiteSchema.class.getResourceAsStream("cluster.schema.json")) {
      Load load = new Load(LoadSettings.builder().build());
      Map<?, ?> schema = (Map<?, ?>) load.loadFromInputStream(requireNonNull(in, "schema"));
      new SiteSchema(schema).check(document, schema, "the site");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void check(SiteValue at, Map<?, ?> use, Object meaning) throws ClusterMapException {
    if (++values > MAX_VALUES) {
      throw at.refused("is value number " + values + "; remove aliases");
    }
    Map<?, ?> rule = resolve(use);
    switch ((String) rule.get("type")) {
      case "object":
        checkMembers(at, rule);
        break;
      case "array":
        for (SiteValue item : at.items()) {
          check(item, (Map<?, ?>) rule.get("items"), meaning);
        }
        break;
      case "integer":
        checkBounds(at, rule, meaning);
        break;
      case "string":
        checkPattern(at, rule, meaning);
        break;
      default:
        throw new IllegalStateException("cluster.schema.json: unknown type in " + rule);
    }
  }

  private Map<?, ?> resolve(Map<?, ?> use) {
    Object reference = use.get("$ref");
    return reference == null ? use : (Map<?, ?>) ((Map<?, ?>) schema.get("$defs"))
        .get(((String) reference).substring("#/$defs/".length()));
  }

  private void checkMembers(SiteValue at, Map<?, ?> rule) throws ClusterMapException {
    Map<?, ?> properties = (Map<?, ?>) rule.get("properties");
    List<String> known = properties.keySet().stream().map(String.class::cast)
        .collect(Collectors.toUnmodifiableList());
    Map<String, SiteValue> members = at.members();
    for (Map.Entry<String, SiteValue> member : members.entrySet()) {
      if (!known.contains(member.getKey())) {
        throw member.getValue().refused("unknown key; " + Suggestion.hint(known, member.getKey()));
      }
      Map<?, ?> use = (Map<?, ?>) properties.get(member.getKey());
      check(member.getValue(), use, use.get("description"));
    }
    for (Object key : (List<?>) rule.get("required")) {
      if (!members.containsKey(key)) {
        throw at.refused("key " + key + " is missing");
      }
    }
  }

  private static void checkBounds(SiteValue at, Map<?, ?> rule, Object meaning)
      throws ClusterMapException {
    long value = at.number();
    Number min = (Number) rule.get("minimum");
    Number max = (Number) rule.get("maximum");
    if ((min != null && value < min.longValue()) || (max != null && value > max.longValue())) {
      throw at.refused(value + " is out of range; expected " + meaning);
    }
  }

  private void checkPattern(SiteValue at, Map<?, ?> rule, Object meaning)
      throws ClusterMapException {
    String text = at.text();
    String pattern = (String) rule.get("pattern");
    if (pattern != null
        && !patterns.computeIfAbsent(pattern, SiteSchema::compile).matcher(text).find()) {
      throw at.refused("'" + text + "' is not valid; expected " + meaning);
    }
  }

  // In JSON Schema $ is the very end; Java would allow a line break before it.
  private static Pattern compile(String pattern) {
    return Pattern.compile(pattern.replaceFirst("\\$$", "\\\\z"));
  }
}
