package org.vas.site;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * One value of the site description, with its line and its key path. Every getter throws
 * {@link ClusterMapException} when the value is of another type.
 */
final class SiteValue {
  private static final Pattern INTEGER = Pattern.compile("[-+]?[0-9]+");
  // YAML 1.2's core schema, as vas_cluster's document.py reads it: null, boolean or number.
  private static final Pattern NOT_TEXT = Pattern.compile("|~|(?i:null|true|false)"
      + "|[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?");

  private final Path file;
  private final String path;
  private final Node node;

  SiteValue(Path file, String path, Node node) {
    this.file = file;
    this.path = path;
    this.node = node;
  }

  /** Returns the key path, such as {@code hosts[1].address}; empty for the whole document. */
  String path() {
    return path;
  }

  /** Returns the values of a mapping by key, in the order of the file. */
  Map<String, SiteValue> members() throws ClusterMapException {
    if (!(node instanceof MappingNode)) {
      throw refused("is not a mapping");
    }
    Map<String, SiteValue> members = new LinkedHashMap<>();
    for (NodeTuple tuple : ((MappingNode) node).getValue()) {
      SiteValue key = new SiteValue(file, path, tuple.getKeyNode());
      if (!(key.node instanceof ScalarNode)) {
        throw key.refused("has a key that is not a word; write KEY: VALUE");
      }
      String name = key.scalar();
      String child = path.isEmpty() ? name : path + "." + name;
      SiteValue member = new SiteValue(file, child, tuple.getValueNode());
      if (members.putIfAbsent(name, member) != null) {
        throw member.refused("is given twice; remove one of them");
      }
    }
    return members;
  }

  /** Returns the value of a key that the schema requires. */
  SiteValue get(String key) throws ClusterMapException {
    return find(key).orElseThrow();
  }

  /** Returns the value of a key; empty when the mapping does not have it. */
  Optional<SiteValue> find(String key) throws ClusterMapException {
    return Optional.ofNullable(members().get(key));
  }

  /** Returns the members of the list under a key; empty when the mapping does not have it. */
  List<SiteValue> items(String key) throws ClusterMapException {
    SiteValue list = members().get(key);
    return list == null ? List.of() : list.items();
  }

  /** Returns the members of a list. */
  List<SiteValue> items() throws ClusterMapException {
    if (!(node instanceof SequenceNode)) {
      throw refused("is not a list");
    }
    List<SiteValue> items = new ArrayList<>();
    for (Node item : ((SequenceNode) node).getValue()) {
      items.add(new SiteValue(file, path + "[" + items.size() + "]", item));
    }
    return items;
  }

  /**
   * Returns the value as a string; refuses an unquoted one that YAML reads as number, boolean or
   * null.
   */
  String text() throws ClusterMapException {
    if (!(node instanceof ScalarNode) || (isPlain() && NOT_TEXT.matcher(scalar()).matches())) {
      throw refused("is not a string");
    }
    return scalar();
  }

  /**
   * Returns the value as an integer of 64 bits; refuses all but unquoted decimal digits, which may
   * have a sign.
   */
  long number() throws ClusterMapException {
    if (!(node instanceof ScalarNode) || !isPlain() || !INTEGER.matcher(scalar()).matches()) {
      throw refused("is not an integer");
    }
    try {
      return Long.parseLong(scalar());
    } catch (NumberFormatException e) {
      throw refused("is not an integer of 64 bits");
    }
  }

  /** Returns the exception that refuses this value: {@code FILE:LINE: PATH: WHAT}. */
  ClusterMapException refused(String what) {
    int line = node.getStartMark().orElseThrow().getLine() + 1;
    String where = file + ":" + line + ": " + (path.isEmpty() ? "" : path + ": ");
    return new ClusterMapException(where + what);
  }

  private boolean isPlain() {
    return ((ScalarNode) node).isPlain();
  }

  private String scalar() {
    return ((ScalarNode) node).getValue();
  }
}
