package org.vas.layout;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * YAML into maps, lists, strings, numbers and booleans, as vas_cluster's document.py does: a key
 * that is given twice or has no value is a problem, an unquoted MAC address is a string.
 */
final class ClusterDocument {
  private static final int MAX_DEPTH = 100;
  private static final long MAX_NODES = 2_000_000;
  private static final Pattern INTEGER = Pattern.compile("[-+]?[0-9]+");
  private static final Pattern REAL =
      Pattern.compile("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?");

  private final List<Problem> problems = new ArrayList<>();

  /** The value of a document; what is wrong with its form goes to {@code problems}. */
  static Object parse(String text, List<Problem> problems) {
    ClusterDocument document = new ClusterDocument();
    Object value = document.value(text);
    if (document.problems.isEmpty() && !(value instanceof Map)) {
      document.add(KeyPath.ROOT, "not a mapping", "start from one of the examples");
    }
    problems.addAll(document.problems);
    return value;
  }

  private Object value(String text) {
    Optional<Node> node = compose(text);
    if (node.isPresent() && count(node.get(), new IdentityHashMap<>()) > MAX_NODES) {
      add(KeyPath.ROOT, "too large when its aliases are expanded", "remove the aliases");
      return null;
    }
    return node.map(root -> construct(root, KeyPath.ROOT)).orElse(null);
  }

  private Optional<Node> compose(String text) {
    LoadSettings settings = LoadSettings.builder()
        .setCodePointLimit(Integer.MAX_VALUE).setMaxAliasesForCollections(Integer.MAX_VALUE)
        .setAllowNonScalarKeys(true).build();
    try {
      if (isTooDeep(settings, text)) {
        add(KeyPath.ROOT, "nested too deeply", "start from one of the examples");
        return Optional.empty();
      }
      return new Compose(settings).composeString(text);
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
      add(KeyPath.ROOT, "line " + line + ": not valid YAML",
          "check the indentation and quotes there");
    } catch (YamlEngineException | StackOverflowError e) {
      add(KeyPath.ROOT, "not valid YAML", "check that it is a UTF-8 text file");
    }
    return Optional.empty();
  }

  // Found without recursion: composing a hostile document would exhaust the stack.
  private static boolean isTooDeep(LoadSettings settings, String text) {
    int depth = 0;
    for (Event event : new Parse(settings).parseString(text)) {
      if (event instanceof CollectionStartEvent) {
        depth++;
      } else if (event instanceof CollectionEndEvent) {
        depth--;
      }
      if (depth > MAX_DEPTH) {
        return true;
      }
    }
    return false;
  }

  // The nodes of the expanded tree: a node within itself expands to one without end.
  private static long count(Node node, Map<Node, Long> known) {
    Long before = known.putIfAbsent(node, MAX_NODES);
    if (before != null) {
      return before;
    }
    long total = 1;
    for (Node child : children(node)) {
      total = Math.min(total + count(child, known), 2 * MAX_NODES);
    }
    known.put(node, total);
    return total;
  }

  private static Collection<Node> children(Node node) {
    if (node instanceof MappingNode) {
      return ((MappingNode) node).getValue().stream()
          .flatMap(tuple -> Stream.of(tuple.getKeyNode(), tuple.getValueNode()))
          .collect(Collectors.toList());
    }
    return node instanceof SequenceNode ? ((SequenceNode) node).getValue() : List.of();
  }

  private Object construct(Node node, KeyPath path) {
    if (node instanceof MappingNode) {
      return mapping((MappingNode) node, path);
    }
    if (node instanceof SequenceNode) {
      List<Object> items = new ArrayList<>();
      for (Node item : ((SequenceNode) node).getValue()) {
        items.add(construct(item, path.index(items.size())));
      }
      return items;
    }
    ScalarNode scalar = (ScalarNode) node;
    return scalar.isPlain() ? plain(scalar.getValue()) : scalar.getValue();
  }

  private Map<String, Object> mapping(MappingNode node, KeyPath path) {
    Map<String, Object> mapping = new LinkedHashMap<>();
    for (NodeTuple tuple : node.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode)) {
        add(path, "has a key that is not a word", "write KEY: VALUE");
        continue;
      }
      String key = ((ScalarNode) tuple.getKeyNode()).getValue();
      if (mapping.containsKey(key)) {
        add(path.key(key), "key is given twice", "remove one of them");
      }
      Object value = construct(tuple.getValueNode(), path.key(key));
      if (value == null) {
        add(path.key(key), "has no value", "give it one or remove the key");
      }
      mapping.put(key, value);
    }
    return mapping;
  }

  private static Object plain(String text) {
    switch (text.toLowerCase(Locale.ROOT)) {
      case "":
      case "null":
      case "~":
        return null;
      case "true":
        return true;
      case "false":
        return false;
      default:
        return number(text);
    }
  }

  private static Object number(String text) {
    if (INTEGER.matcher(text).matches()) {
      return new BigInteger(text);
    }
    return REAL.matcher(text).matches() ? (Object) Double.valueOf(text) : text;
  }

  private void add(KeyPath path, String what, String fix) {
    problems.add(new Problem(path, what, fix));
  }
}
