package org.vas.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.apache.hadoop.yarn.api.records.Container;
import org.junit.jupiter.api.Test;
import org.vas.app.WarmContainer.State;
import org.vas.app.WarmPool.Answer;

class WarmPoolTest {
  private static final long JVM = 7;

  private final Container container = Attempts.container((int) JVM, "vm1");
  private long now;
  private final WarmPool pool = new WarmPool(3, 60_000, () -> now);

  @Test
  void aContainerWhoseJvmAsksAfterSuccessWaitsAndIsGivenToTheNextAttempt() {
    runFirst();
    assertEquals(Answer.WAIT, pool.ask(JVM));
    assertEquals(List.of(container), pool.takeReady());
    assertEquals(1, pool.idle().size());
    assertTrue(pool.hasNoAttempt(container.getId()));
    assertEquals(List.of(), pool.takeReady(), "its attempt is over once");

    pool.assigned(container, Attempts.map(2));
    assertTrue(pool.isWarm(container.getId()));
    assertEquals(13562, pool.shufflePort(container.getId()));
    assertEquals(Answer.WAIT, pool.ask(JVM), "its attempt is not registered");
    pool.launched(Attempts.map(2));
    assertEquals(Answer.FETCH, pool.ask(JVM));
    assertEquals(Attempts.map(2), pool.attemptOf(JVM));
    pool.fetched(JVM);
    assertFalse(pool.isWarm(container.getId()));
  }

  @Test
  void aJvmThatDoesNotAskIsNotReady() {
    runFirst();
    assertEquals(List.of(), pool.takeReady());
  }

  @Test
  void aJvmThatAsksWithoutSuccessIsToEnd() {
    pool.assigned(container, Attempts.map(1));
    assertEquals(Answer.END, pool.ask(JVM));
    assertEquals(Answer.END, pool.ask(JVM + 1), "of another job, or forgotten");
  }

  @Test
  void aContainerThatIsOldGetsNoOtherTask() {
    now = 1_000;
    runFirst();
    now = 60_999;
    assertEquals(Answer.WAIT, pool.ask(JVM));
    pool.takeReady();
    pool.assigned(container, Attempts.map(2));
    pool.launched(Attempts.map(2));
    pool.fetched(JVM);
    pool.done(Attempts.map(2));
    now = 61_000;
    assertEquals(Answer.END, pool.ask(JVM));
  }

  @Test
  void aContainerEndsAfterItsLastTask() {
    runFirst();
    for (int task = 2; task <= 3; task++) {
      assertEquals(Answer.WAIT, pool.ask(JVM));
      pool.takeReady();
      pool.assigned(container, Attempts.map(task));
      pool.launched(Attempts.map(task));
      pool.fetched(JVM);
      pool.done(Attempts.map(task));
    }
    assertEquals(Answer.END, pool.ask(JVM));
    assertEquals(List.of(), pool.takeReady());
  }

  @Test
  void aContainerThatIsGivenBackTellsItsJvmToEnd() {
    runFirst();
    pool.ask(JVM);
    pool.takeReady();
    pool.end(container.getId());
    assertEquals(Answer.END, pool.ask(JVM));
    assertEquals(List.of(), pool.idle());
    assertTrue(pool.hasNoAttempt(container.getId()));
  }

  @Test
  void anAttemptThatNeverBeganIsTold() {
    runFirst();
    pool.ask(JVM);
    pool.takeReady();
    pool.assigned(container, Attempts.map(2));
    Optional<WarmContainer> lost = pool.completed(container.getId());
    assertEquals(State.ASSIGNED, lost.orElseThrow().state);
    assertEquals(Optional.empty(), pool.completed(container.getId()));
    assertEquals(Answer.END, pool.ask(JVM));
  }

  @Test
  void anotherAttemptsSuccessIsNotThisContainers() {
    pool.assigned(container, Attempts.map(1));
    pool.done(Attempts.map(9));
    assertEquals(Answer.END, pool.ask(JVM));
  }

  @Test
  void newsOfTheFirstAttemptReachesTheLatest() {
    runFirst();
    pool.ask(JVM);
    pool.takeReady();
    pool.assigned(container, Attempts.map(2));
    assertEquals(Attempts.map(2), pool.latestOf(Attempts.map(1)));
    pool.completed(container.getId());
    assertEquals(Attempts.map(2), pool.latestOf(Attempts.map(1)), "its node may answer late");
  }

  @Test
  void aContainerThatIsStoppedForItsAttemptGetsNoOtherThoughTheAttemptSucceeds() {
    pool.assigned(container, Attempts.map(1));
    assertTrue(pool.stop(container.getId(), Attempts.map(1)));
    pool.done(Attempts.map(1));
    assertEquals(Answer.END, pool.ask(JVM));
    assertEquals(List.of(), pool.takeReady());
    assertEquals(Attempts.map(1), pool.latestOf(Attempts.map(1)), "who hears that it was stopped");
  }

  @Test
  void aContainerIsNotStoppedForAnAttemptThatIsOver() {
    runFirst();
    pool.ask(JVM);
    pool.takeReady();
    assertFalse(pool.stop(container.getId(), Attempts.map(1)), "it waits");
    pool.assigned(container, Attempts.map(2));
    assertFalse(pool.stop(container.getId(), Attempts.map(1)), "it runs another");
    assertTrue(pool.stop(container.getId(), Attempts.map(2)));
  }

  @Test
  void aContainerThatEndedIsRemembered() {
    runFirst();
    assertFalse(pool.isOver(container.getId()));
    assertFalse(pool.hasNoAttempt(container.getId()));
    pool.completed(container.getId());
    assertTrue(pool.hasNoAttempt(container.getId()), "YARN may claim it in the same answer");
    assertTrue(pool.isOver(container.getId()));
  }

  @Test
  void aJvmThatNoLongerAsksIsTold() {
    now = 40;
    runFirst();
    pool.ask(JVM);
    pool.takeReady();
    now = 100;
    pool.ask(JVM);
    now = 130;
    assertEquals(30L, pool.idle().get(0).silent);
    assertEquals(90L, pool.idle().get(0).waited);
  }

  @Test
  void aJvmIsNotSilentWhileTheMasterStoodStill() {
    runFirst();
    pool.ask(JVM);
    pool.takeReady();
    now = 900;
    assertEquals(900L, pool.idle().get(0).silent);
    now = 5_000;
    assertEquals(0L, pool.idle().get(0).silent, "nobody answered it for 4 s");
    now = 5_800;
    assertEquals(800L, pool.idle().get(0).silent);
    assertEquals(5_800L, pool.idle().get(0).waited);
  }

  @Test
  void containersThatWaitAreToldWithTheirTimeLongestFirst() {
    Container other = Attempts.container(8, "vm2");
    runFirst();
    pool.ask(JVM);
    pool.takeReady();
    now = 100;
    pool.assigned(other, Attempts.map(5));
    pool.done(Attempts.map(5));
    pool.ask(8);
    pool.takeReady();
    now = 150;
    List<WarmPool.Idle> idle = pool.idle();
    assertEquals(List.of(container, other), List.of(idle.get(0).container, idle.get(1).container));
    assertEquals(List.of(150L, 50L), List.of(idle.get(0).waited, idle.get(1).waited));
  }

  private void runFirst() {
    pool.assigned(container, Attempts.map(1));
    assertFalse(pool.isWarm(container.getId()));
    pool.started(Attempts.map(1), 13562);
    pool.done(Attempts.map(1));
  }
}
