package org.vas.shuffle.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.map.MapRun;

/**
 * Runs one job, with the product's map and reduce sides, and checks what must be true after each
 * step.
 */
final class History {
  private static final int ATTEMPTS_OF_ONE_MASTER = 1000;
  private static final String EIO = "Input/output error";
  private static final List<String> ERRNOS = List.of(EIO, "Stale file handle",
      "No space left on device", "Disk quota exceeded");

  // A path, or the attempt that is the name of one.
  private static final Pattern NAMES_AN_OUTPUT = Pattern.compile("attempt_1_0001_[mr]_|/staging");

  private final JobConf job;
  private final Shape shape;
  private final Records records;
  private final ModelMedium medium;
  private final Master master;
  private final List<TaskAttemptID> attempts = new ArrayList<>();
  private final Map<Integer, Integer> nextOfMap = new HashMap<>();
  private final Map<Integer, Integer> nextOfReduce = new HashMap<>();
  private final Set<TaskAttemptID> succeeded = new HashSet<>();
  private final Set<TaskAttemptID> damaged = ConcurrentHashMap.newKeySet();
  private int firstAttempt;

  /** Begins a history on Lustre. */
  History(Path directory, Shape shape) throws Exception {
    this(directory, shape, new ModelMedium());
  }

  History(Path directory, Shape shape, ModelMedium medium) throws Exception {
    this.shape = shape;
    this.medium = medium;
    this.master = new Master(this::runAgain, medium.machine());
    this.records = new Records(shape.large);
    this.job = job(directory, shape);
    medium.configure(job);
  }

  /** The job of a shape; each map leaves two runs at most. */
  static JobConf job(Path directory, Shape shape) throws IOException {
    JobConf job = MapRun.job(directory);
    job.setNumMapTasks(shape.maps);
    job.setNumReduceTasks(shape.reducers);
    job.setMapOutputValueClass(Text.class);
    job.set("vas.shuffle.layout", shape.layout);
    job.set("vas.shuffle.read-size", "64k");
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    job.setInt("vas.shuffle.max-runs", 2);
    job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, shape.large ? 300 << 10 : 8 << 20);
    if (!shape.codec.equals("none")) {
      job.setCompressMapOutput(true);
      job.set(MRJobConfig.MAP_OUTPUT_COMPRESS_CODEC,
          "org.apache.hadoop.io.compress." + shape.codec);
    }
    if (shape.encrypted) {
      MapRun.encrypt(job);
    }
    return job;
  }

  static TaskAttemptID map(int map, int attempt) {
    return new TaskAttemptID("1", 1, TaskType.MAP, map, attempt);
  }

  void take(Step step) throws Exception {
    int map = Math.floorMod(step.task, shape.maps);
    switch (step.kind) {
      case MAP:
        runMap(map, NthCall.never(), false, true);
        break;
      case MAPPER_THROWS:
        runMap(map, NthCall.never(), true, true);
        break;
      case MAP_ERRNO:
        runMap(map, NthCall.fails(step.number, errno(step)), false, true);
        break;
      case MAP_KILLED:
        runMap(map, NthCall.kills(step.number), false, true);
        break;
      case MAP_DIES_PUBLISHED:
        runMap(map, NthCall.never(), false, false);
        break;
      case MASTER_RESTARTS:
        master.restart();
        firstAttempt += ATTEMPTS_OF_ONE_MASTER;
        break;
      default:
        takeOther(step, map);
    }
  }

  private void takeOther(Step step, int map) throws Exception {
    int partition = Math.floorMod(step.task, shape.reducers);
    switch (step.kind) {
      case DAMAGE:
        damage(step);
        break;
      case EVENT:
        event(step);
        break;
      case TIP_FAILED:
        master.event(map(map, firstAttempt), Status.TIPFAILED);
        break;
      case REDUCE:
        reduce(partition, NthCall.never(), -1);
        break;
      case REDUCE_ERRNO:
        reduce(partition, NthCall.fails(step.number, errno(step)), -1);
        break;
      case REDUCE_MEETS_DAMAGE:
        reduce(partition, medium.meets(step.number, () -> damageUnchecked(step)), -1);
        break;
      case REDUCE_MEETS_RESET:
        reduce(partition, NthCall.never(), 1 + step.number % 2);
        break;
      case DAEMON_KILLED:
        medium.kill();
        break;
      case REDUCE_MEETS_KILL:
        reduce(partition, NthCall.atPoll(1 + step.number % 3, medium::kill), -1);
        break;
      default:
        throw new IllegalArgumentException(step.toString());
    }
  }

  private static String errno(Step step) {
    return ERRNOS.get(Math.floorMod(step.attempt, ERRNOS.size()));
  }

  // ---- Maps.

  private boolean runMap(int map, NthCall fault, boolean throwing, boolean says)
      throws Exception {
    TaskAttemptID attempt =
        map(map, nextOfMap.merge(map, 1, Integer::sum) - 1 + firstAttempt);
    Throwable failure = null;
    if (fault.isSet()) {
      SharedFileSystem.inject(fault);
    }
    try {
      MapRun.of(job, attempt, records.script(attempt, throwing));
    } catch (Exception e) {
      failure = e;
    } finally {
      if (fault.isSet()) {
        SharedFileSystem.heal();
      }
    }
    if (failure != null && !throwing && !fault.fired()) {
      fail(attempt + " failed by itself", failure);
    }
    ended(attempt);
    boolean success = failure == null && says;
    if (success) {
      succeeded.add(attempt);
    }
    master.event(attempt, success ? Status.SUCCEEDED : Status.FAILED);
    return failure == null;
  }

  // What it left can be damaged from here on: damage while it writes would be its own failure.
  private void ended(TaskAttemptID attempt) {
    synchronized (attempts) {
      attempts.add(attempt);
    }
  }

  private void runAgain(int map) throws Exception {
    runMap(map, NthCall.never(), false, true);
  }

  private void damageUnchecked(Step step) {
    try {
      damage(step);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void damage(Step step) throws IOException {
    List<TaskAttemptID> all;
    synchronized (attempts) {
      all = List.copyOf(attempts);
    }
    if (!all.isEmpty() && medium.finds(step.task)) {
      TaskAttemptID attempt = all.get(Math.floorMod(step.attempt, all.size()));
      TaskAttemptID other = all.get(Math.floorMod(step.attempt + 1, all.size()));
      damaged.add(attempt);
      Damage.inflict(directory(attempt), directory(other), step.task, step.number);
    }
  }

  private Path directory(TaskAttemptID attempt) {
    return medium.directory(job, attempt);
  }

  // The master says SUCCEEDED of what did, and takes back what it likes.
  private void event(Step step) {
    if (!attempts.isEmpty()) {
      TaskAttemptID attempt = attempts.get(Math.floorMod(step.attempt, attempts.size()));
      List<Status> said = List.of(Status.OBSOLETE, Status.FAILED, Status.KILLED, Status.SUCCEEDED);
      Status status = said.get(Math.floorMod(step.number, said.size()));
      if (status != Status.SUCCEEDED || succeeded.contains(attempt)) {
        master.event(attempt, status);
      }
    }
  }

  // ---- Reduces.

  private boolean reduce(int partition, NthCall fault, int resetAtPoll) throws Exception {
    everyMapHasRun();
    TaskAttemptID id = new TaskAttemptID("1", 1, TaskType.REDUCE, partition,
        nextOfReduce.merge(partition, 1, Integer::sum) - 1 + firstAttempt);
    boolean mayFindDamage = master.live().stream().anyMatch(damaged::contains);
    master.reduceStarts(resetAtPoll);
    fault.arm(master);
    ReduceAttempt attempt = ReduceAttempt.run(job, id, shape.maps, master, fault);
    Set<TaskAttemptID> blamed = new HashSet<>(master.reported());
    blamed.removeAll(damaged);
    assertTrue(blamed.size() <= (fault.saidOnce(EIO) ? 1 : 0),
        () -> "blamed " + blamed + ", which nobody damaged");
    if (attempt.succeeded()) {
      checkInput(partition, attempt.input());
    } else {
      boolean lateFind = mayFindDamage && !attempt.isRetry() && medium.looksAtEndsOnly();
      checkFailure(attempt, fault.fired() || lateFind);
    }
    return attempt.succeeded();
  }

  private void everyMapHasRun() throws Exception {
    Set<Integer> done = new HashSet<>(master.failedMaps());
    master.live().forEach(attempt -> done.add(attempt.getTaskID().getId()));
    for (int map = 0; map < shape.maps; map++) {
      if (!done.contains(map)) {
        runAgain(map);
      }
    }
  }

  private void checkInput(int partition, List<String> input) {
    Set<TaskAttemptID> used = new LinkedHashSet<>();
    input.forEach(line -> used.add(Records.attempt(line)));
    assertTrue(master.toldLive().containsAll(used), () -> "dead attempts were read: " + used);
    Map<Integer, TaskAttemptID> chosen = new HashMap<>();
    used.forEach(attempt -> assertEquals(null,
        chosen.put(attempt.getTaskID().getId(), attempt), "two attempts of one map"));
    for (int map = 0; map < shape.maps; map++) {
      if (!master.toldFailed().contains(map)) {
        chosen.putIfAbsent(map, map(map, 0));
      }
    }
    assertEquals(records.input(chosen.values(), partition, shape.reducers), input);
  }

  private void checkFailure(ReduceAttempt attempt, boolean mayFail) {
    StringBuilder messages = new StringBuilder();
    for (Throwable e = attempt.failure(); e != null; e = e.getCause()) {
      messages.append(e).append('\n');
    }
    String text = messages.toString();
    if (!mayFail || attempt.failure() instanceof Error) {
      fail(attempt.id() + " failed without a reason", attempt.failure());
    }
    assertTrue(NAMES_AN_OUTPUT.matcher(text).find(), () -> attempt.id() + " names none: " + text);
  }

  // ---- The end.

  /** However it went so far, each reduce gets its input in a few attempts. */
  void finish() throws Exception {
    for (int partition = 0; partition < shape.reducers; partition++) {
      boolean first = reduce(partition, NthCall.never(), -1);
      assertTrue(first || reduce(partition, NthCall.never(), -1), "the second attempt without a fault succeeds");
    }
  }

  /** The job is over while an attempt is at its n-th call: nothing is left. */
  void end(int call) throws Exception {
    NthCall cleanup = NthCall.meets(call, this::removeJob);
    runMap(0, cleanup, false, true);
    if (!cleanup.fired()) {
      removeJob();
    }
    assertFalse(Files.exists(jobDir()), "a late attempt makes the job's directory again");
  }

  private Path jobDir() {
    return directory(map(0, 0)).getParent().getParent();
  }

  private void removeJob() {
    try {
      Damage.removeAll(jobDir());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
