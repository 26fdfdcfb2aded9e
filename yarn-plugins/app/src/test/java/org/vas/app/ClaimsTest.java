package org.vas.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.PreemptionContainer;
import org.apache.hadoop.yarn.api.records.PreemptionContract;
import org.apache.hadoop.yarn.api.records.PreemptionMessage;
import org.apache.hadoop.yarn.api.records.StrictPreemptionContract;
import org.junit.jupiter.api.Test;

class ClaimsTest {
  private static final ContainerId WAITING = Attempts.container(1, "vm1").getId();
  private static final ContainerId BUSY = Attempts.container(2, "vm1").getId();

  @Test
  void bothContractsLoseTheContainersThatRunNoAttempt() {
    PreemptionMessage message = PreemptionMessage.newInstance(
        StrictPreemptionContract.newInstance(claimed(WAITING, BUSY)),
        PreemptionContract.newInstance(List.of(), claimed(WAITING)));
    assertEquals(Set.of(WAITING, BUSY), Claims.of(message));
    PreemptionMessage left = Claims.without(message, WAITING::equals);
    assertEquals(claimed(BUSY), left.getStrictContract().getContainers());
    assertEquals(Set.of(), left.getContract().getContainers());
  }

  @Test
  void aMessageThatNamesNoneOfThemStaysAsItIs() {
    PreemptionMessage message = PreemptionMessage.newInstance(
        StrictPreemptionContract.newInstance(claimed(BUSY)), null);
    assertSame(message, Claims.without(message, WAITING::equals));
    assertNull(Claims.without(null, WAITING::equals));
    assertEquals(Set.of(), Claims.of(null));
  }

  private static Set<PreemptionContainer> claimed(ContainerId... ids) {
    return Arrays.stream(ids).map(PreemptionContainer::newInstance).collect(Collectors.toSet());
  }
}
