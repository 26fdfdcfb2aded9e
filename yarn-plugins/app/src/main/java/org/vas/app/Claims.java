package org.vas.app;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.PreemptionContainer;
import org.apache.hadoop.yarn.api.records.PreemptionContract;
import org.apache.hadoop.yarn.api.records.PreemptionMessage;
import org.apache.hadoop.yarn.api.records.StrictPreemptionContract;

/** Reads the preemption messages in which YARN claims containers back. */
final class Claims {
  private Claims() {}

  /** Returns the containers that a message claims back; none if it is null. */
  static Set<ContainerId> of(PreemptionMessage message) {
    Set<ContainerId> ids = new HashSet<>();
    if (message != null && message.getStrictContract() != null) {
      message.getStrictContract().getContainers().forEach(each -> ids.add(each.getId()));
    }
    if (message != null && message.getContract() != null) {
      message.getContract().getContainers().forEach(each -> ids.add(each.getId()));
    }
    return ids;
  }

  /**
   * Returns a message without the containers for which {@code left} is true. Hadoop's policies kill
   * the attempt of each container in a message; one without an attempt would end the master with an
   * exception.
   *
   * @return null if {@code message} is null
   */
  static PreemptionMessage without(PreemptionMessage message, Predicate<ContainerId> left) {
    if (message == null || Claims.of(message).stream().noneMatch(left)) {
      return message;
    }
    StrictPreemptionContract strict = message.getStrictContract();
    PreemptionContract contract = message.getContract();
    return PreemptionMessage.newInstance(
        strict == null ? null
            : StrictPreemptionContract.newInstance(kept(strict.getContainers(), left)),
        contract == null ? null
            : PreemptionContract.newInstance(
                contract.getResourceRequest(), kept(contract.getContainers(), left)));
  }

  private static Set<PreemptionContainer> kept(
      Set<PreemptionContainer> containers, Predicate<ContainerId> left) {
    Set<PreemptionContainer> kept = new HashSet<>(containers);
    kept.removeIf(each -> left.test(each.getId()));
    return kept;
  }
}
