package org.vas.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerRequestEvent;
import org.apache.hadoop.yarn.api.records.Resource;
import org.junit.jupiter.api.Test;

class OffersTest {
  private static final Optional<TaskType> MAP = Optional.of(TaskType.MAP);
  private static final Optional<TaskType> REDUCE = Optional.of(TaskType.REDUCE);
  private static final Optional<TaskType> NONE = Optional.empty();
  private static final long DELAY = 500;

  private final Demand demand = new Demand();

  @Test
  void aMapWithDataOnTheHostComesAtOnce() {
    demand.add(request(1, "vm1", "/pair1"));
    assertEquals(MAP, round(true).offer("vm1", TaskType.MAP, 0));
  }

  @Test
  void oneOfTheRackComesAfterTheDelayAndAnyAfterTwice() {
    demand.add(request(1, "vm1", "/pair1"));
    assertEquals(NONE, round(true).offer("vm2", TaskType.MAP, DELAY - 1));
    assertEquals(MAP, round(true).offer("vm2", TaskType.MAP, DELAY));
    assertEquals(NONE, round(true).offer("vm3", TaskType.MAP, 2 * DELAY - 1));
    assertEquals(MAP, round(true).offer("vm3", TaskType.MAP, 2 * DELAY));
  }

  @Test
  void mapsWithoutAPlaceTakeAnyContainerAtOnce() {
    demand.add(request(1));
    demand.add(request(2));
    Offers offers = round(true);
    assertEquals(MAP, offers.offer("vm1", TaskType.MAP, 0));
    assertEquals(MAP, offers.offer("vm3", TaskType.MAP, 0));
    assertEquals(NONE, offers.offer("vm2", TaskType.MAP, 0), "a third container for two maps");
  }

  @Test
  void whileAMapHasAPlaceNoContainerIsOfferedToWhicheverComesFirst() {
    demand.add(request(1));
    demand.add(request(2, "vm1", "/pair1"));
    assertEquals(NONE, round(true).offer("vm3", TaskType.MAP, 0));
    assertEquals(MAP, round(true).offer("vm1", TaskType.MAP, 0));
    demand.remove(Attempts.map(2));
    assertEquals(MAP, round(true).offer("vm3", TaskType.MAP, 0));
  }

  @Test
  void noMoreContainersAreOfferedThanAttemptsWait() {
    demand.add(request(1, "vm1", "/pair1"));
    Offers offers = round(true);
    assertEquals(MAP, offers.offer("vm1", TaskType.MAP, 9000));
    assertEquals(NONE, offers.offer("vm1", TaskType.MAP, 9000));
  }

  @Test
  void reducesComeWhenNoMapWaits() {
    demand.add(request(1, "vm1", "/pair1"));
    demand.add(reduce(1));
    assertEquals(NONE, round(true).offer("vm3", TaskType.MAP, 0));
    demand.remove(Attempts.map(1));
    assertEquals(REDUCE, round(true).offer("vm3", TaskType.MAP, 0));
    assertEquals(NONE, round(false).offer("vm3", TaskType.MAP, 0), "of other options");
    assertEquals(REDUCE, round(false).offer("vm3", TaskType.REDUCE, 0));
  }

  @Test
  void anAttemptThatFailedBeforeGetsANewJvm() {
    demand.add(ContainerRequestEvent.createContainerRequestEventForFailedContainer(
        Attempts.map(1), Resource.newInstance(512, 1)));
    assertEquals(NONE, round(true).offer("vm1", TaskType.MAP, 9000));
  }

  @Test
  void whileOneWaitsThatFailedBeforeOthersComeByTheirHostOrRackAlone() {
    demand.add(request(1, "vm1", "/pair1"));
    demand.add(ContainerRequestEvent.createContainerRequestEventForFailedContainer(
        Attempts.map(2), Resource.newInstance(512, 1)));
    assertEquals(NONE, round(true).offer("vm3", TaskType.MAP, 9000));
    Offers offers = round(true);
    assertEquals(MAP, offers.offer("vm2", TaskType.MAP, 9000));
    assertEquals(NONE, offers.offer("vm1", TaskType.MAP, 9000), "one in a round");
    demand.remove(Attempts.map(2));
    assertEquals(MAP, round(true).offer("vm3", TaskType.MAP, 9000));
  }

  @Test
  void reducesWaitWhileAMapRunsAgain() {
    demand.add(reduce(1));
    demand.add(ContainerRequestEvent.createContainerRequestEventForFailedContainer(
        Attempts.map(2), Resource.newInstance(512, 1)));
    assertEquals(NONE, round(true).offer("vm1", TaskType.MAP, 9000));
    demand.remove(Attempts.map(2));
    assertEquals(REDUCE, round(true).offer("vm1", TaskType.MAP, 9000));
  }

  @Test
  void aReduceThatFailedBeforeComesFirstAndGetsANewJvm() {
    demand.add(reduce(1));
    demand.add(ContainerRequestEvent.createContainerRequestEventForFailedContainer(
        Attempts.attempt(TaskType.REDUCE, 2), Resource.newInstance(512, 1)));
    assertEquals(NONE, round(true).offer("vm1", TaskType.REDUCE, 9000));
  }

  @Test
  void reducesThatAreHeldBackGetNoOffer() {
    demand.add(reduce(1));
    demand.add(reduce(2));
    Offers offers = new Offers(demand, host -> "/pair1", DELAY, true, 1);
    assertEquals(REDUCE, offers.offer("vm1", TaskType.MAP, 0));
    assertEquals(NONE, offers.offer("vm1", TaskType.MAP, 0));
  }

  @Test
  void whatWasAskedTwiceIsCountedOnce() {
    demand.add(request(1, "vm1", "/pair1"));
    demand.add(request(1, "vm1", "/pair1"));
    demand.remove(Attempts.map(1));
    demand.remove(Attempts.map(1));
    assertEquals(0, demand.maps());
    assertEquals(0, demand.mapsAt("vm1"));
  }

  private Offers round(boolean toReduces) {
    return new Offers(
        demand, host -> host.equals("vm3") ? "/pair2" : "/pair1", DELAY, toReduces, 9);
  }

  private static ContainerRequestEvent request(int task) {
    return new ContainerRequestEvent(Attempts.map(task), Resource.newInstance(512, 1),
        new String[0], new String[0]);
  }

  private static ContainerRequestEvent request(int task, String host, String rack) {
    return new ContainerRequestEvent(Attempts.map(task), Resource.newInstance(512, 1),
        new String[] {host}, new String[] {rack});
  }

  private static ContainerRequestEvent reduce(int task) {
    return new ContainerRequestEvent(Attempts.attempt(TaskType.REDUCE, task),
        Resource.newInstance(512, 1), new String[0], new String[0]);
  }
}
