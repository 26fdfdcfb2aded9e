package org.vas.scheduler.sim;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.vas.scheduler.policy.AskKey;
import org.vas.scheduler.policy.ClusterView;
import org.vas.scheduler.policy.RemoteCause;

/**
 * A cluster of nodes {@code vm0}, {@code vm1}, ...; the first two are an HA pair and so a rack, the
 * next two another, and so on.
 */
final class SimCluster implements ClusterView {
  private final List<String> nodes;
  private final Map<String, Integer> index = new HashMap<>();
  private final Map<String, RemoteCause> troubles = new HashMap<>();
  private final Predicate<String> hasRoom;
  private final ToIntFunction<String> running;

  /**
   * Makes a cluster of {@code size} nodes.
   * @param hasRoom whether a node has a free slot
   * @param running how many tasks a node has
   */
  SimCluster(int size, Predicate<String> hasRoom, ToIntFunction<String> running) {
    this.hasRoom = hasRoom;
    this.running = running;
    nodes = IntStream.range(0, size).mapToObj(i -> "vm" + i).collect(Collectors.toUnmodifiableList());
    IntStream.range(0, size).forEach(i -> index.put(nodes.get(i), i));
  }

  @Override
  public List<String> nodes() {
    return nodes;
  }

  int indexOf(String node) {
    return index.get(node);
  }

  /** Sets why a node gets no containers; {@link RemoteCause#NONE} lets it get them again. */
  void trouble(String node, RemoteCause cause) {
    troubles.put(node, cause);
  }

  @Override
  public boolean knows(String host) {
    return index.containsKey(host);
  }

  @Override
  public boolean hasRoom(AskKey key, String node) {
    return hasRoom.test(node);
  }

  @Override
  public int running(AskKey key, String node) {
    return running.applyAsInt(node);
  }

  @Override
  public RemoteCause trouble(AskKey key, String host) {
    return trouble(host);
  }

  RemoteCause trouble(String host) {
    return troubles.getOrDefault(host, RemoteCause.NONE);
  }

  @Override
  public String rackOf(String host) {
    return knows(host) ? "/ha/" + index.get(host) / 2 : "/default-rack";
  }

  @Override
  public Optional<String> partnerOf(String host) {
    int partner = index.get(host) ^ 1;
    return partner < nodes.size() ? Optional.of(nodes.get(partner)) : Optional.empty();
  }
}
