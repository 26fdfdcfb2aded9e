package org.vas.shuffle.site;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.vas.filesystem.ModelGuest;

/**
 * An application master that keeps the rules of Hadoop's: it numbers its attempts from a thousand
 * of its own, lets one attempt of each reduce commit, writes its history, recovers from that of the
 * one before it, and commits the job at most once.
 */
final class SiteMaster {
  private static final int ATTEMPTS_OF_ONE_MASTER = 1000;

  final SiteJob job;
  final int number;
  final ModelGuest guest;
  final int life;
  final Map<Integer, TaskAttemptID> maps = new HashMap<>();
  final Set<Integer> reduced = new HashSet<>();
  private final Site site;
  private final Map<Integer, TaskAttemptID> granted = new HashMap<>();
  private final Map<String, Integer> attempts = new HashMap<>();
  private FSDataOutputStream history;
  private final List<String> toTell = new ArrayList<>();
  private boolean telling;
  private boolean begun;
  private boolean stopped;

  SiteMaster(Site site, SiteJob job, ModelGuest guest) {
    this.site = site;
    this.job = job;
    this.number = job.masters.size() + 1;
    this.guest = guest;
    this.life = guest.life();
    job.masters.add(this);
  }

  boolean isAlive() {
    return begun && !stopped && guest.life() == life;
  }

  boolean isCurrent() {
    return job.current() == this;
  }

  void stop() {
    stopped = true;
  }

  /** Its stream is closed; the history of the site is over. */
  void release() {
    if (history != null) {
      Site.release(history);
    }
  }

  // ---- What its tasks ask it.

  TaskAttemptID next(TaskType type, int task) {
    int attempt = attempts.merge(type + " " + task, 1, Integer::sum) - 1;
    return job.attempt(type, task, (number - 1) * ATTEMPTS_OF_ONE_MASTER + attempt);
  }

  boolean grants(int reduce, TaskAttemptID attempt) {
    return isAlive() && !reduced.contains(reduce)
        && granted.computeIfAbsent(reduce, absent -> attempt).equals(attempt);
  }

  void failed(int reduce, TaskAttemptID attempt) {
    granted.remove(reduce, attempt);
  }

  boolean hasEveryMap() {
    return maps.size() == job.maps;
  }

  boolean hasEveryReduce() {
    return reduced.size() == job.reduces;
  }

  void mapped(int map, TaskAttemptID attempt) throws Exception {
    if (isAlive()) {
      maps.put(map, attempt);
      tell("MAP " + map + " " + attempt);
    }
  }

  void reduced(int reduce, TaskAttemptID attempt) throws Exception {
    if (isAlive()) {
      reduced.add(reduce);
      tell("REDUCE " + reduce + " " + attempt);
    }
  }

  // A master that cannot write its history ends.
  private void tell(String line) throws Exception {
    toTell.add(line);
    while (!telling && !toTell.isEmpty()) {
      telling = true;  // one thread of a master writes its history
      String next = toTell.remove(0);
      stopped |= !Site.ran(guest, life, () -> {
        history.write((next + "\n").getBytes(UTF_8));
        history.hflush();
        job.told.get(number).add(next);
        return null;
      });
      telling = false;
    }
  }

  // ---- Its life.

  JobConf conf(ModelGuest on) {
    JobConf conf = new JobConf(site.conf);
    conf.set(MRJobConfig.MAPREDUCE_JOB_DIR, on.path(job.staging()).toString());
    conf.setInt(MRJobConfig.APPLICATION_ATTEMPT_ID, number);
    conf.setInt(FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION, 1);
    conf.setNumReduceTasks(job.reduces);
    return conf;
  }

  TaskAttemptContext context(ModelGuest on, TaskAttemptID attempt) {
    return new TaskAttemptContextImpl(conf(on), attempt);
  }

  FileOutputCommitter committer(ModelGuest on, TaskAttemptContext context) throws IOException {
    return new FileOutputCommitter(on.path(job.output()), context);
  }

  private Path file(String name) {
    return guest.path(job.staging() + "/" + name);
  }

  private static String history(int master) {
    return "job_" + master + ".jhist";
  }

  /** Begins, or finds that the job has ended before. */
  void begin(long now) throws Exception {
    stopped |= !Site.ran(guest, life, () -> {
      FileSystem fs = site.files(guest);
      if (number == 1) {
        fs.mkdirs(file(""));
      } else if (!fs.exists(file("")) || fs.exists(file("COMMIT_STARTED"))) {
        ends(fs.exists(file("COMMIT_SUCCESS")), now);
        return null;
      }
      job.told.put(number, new ArrayList<>());
      history = fs.create(file(history(number)), true);
      TaskAttemptContext own = context(guest, job.attempt(TaskType.REDUCE, 0, 0));
      committer(guest, own).setupJob(own);
      begun = true;
      if (number > 1) {
        recover(fs);
      }
      return null;
    });
  }

  private void recover(FileSystem fs) throws Exception {
    for (String line : lines(fs)) {
      String[] words = line.split(" ", -1);
      if (words.length < 3 || !isWhole(words[2])) {
        return;  // written by halves: what follows is not there either
      }
      TaskAttemptID attempt = TaskAttemptID.forName(words[2]);
      int task = Integer.parseInt(words[1]);
      if (words[0].equals("MAP")) {
        mapped(task, attempt);
      } else {
        TaskAttemptContext context = context(guest, attempt);
        committer(guest, context).recoverTask(context);
        reduced(task, attempt);
      }
    }
  }

  private static boolean isWhole(String attempt) {
    return attempt.matches("attempt_1_\\d{4}_[mr]_\\d{6}_\\d+");
  }

  private List<String> lines(FileSystem fs) throws IOException {
    Path before = file(history(number - 1));
    if (!fs.exists(before)) {
      return List.of();
    }
    String text;
    try (FSDataInputStream in = fs.open(before)) {
      text = new String(in.readAllBytes(), UTF_8);
    }
    List<String> lines =
        List.of(text.substring(0, text.lastIndexOf('\n') + 1).split("\n", -1));
    List<String> told = job.told.getOrDefault(number - 1, List.of());
    if (!lines.containsAll(told)) {
      throw new Broken(Broken.Invariant.LOST_BYTES, before + " had " + told + " and has " + lines);
    }
    return lines;
  }

  /** Commits the job as {@code CommitterEventHandler} does. */
  void commit(long now) throws Exception {
    boolean[] committed = {false};
    Site.ran(guest, life, () -> {
      try {
        commitOnce(site.files(guest));
        committed[0] = true;
      } catch (IOException failed) {
        site.files(guest).create(file("COMMIT_FAIL"), false).close();
      }
      return null;
    });
    if (isAlive()) {
      ends(committed[0], now);
    }
  }

  private void commitOnce(FileSystem fs) throws IOException {
    boolean guarded = site.guards.onlyTheCurrentMasterCommits;
    fs.create(file("COMMIT_STARTED"), !guarded).close();
    // The commit window: a master that has not heard from the ResourceManager lately waits.
    if (guarded && !isCurrent()) {
      throw new IOException("the ResourceManager does not answer");
    }
    TaskAttemptContext own = context(guest, job.attempt(TaskType.REDUCE, 0, 0));
    committer(guest, own).commitJob(
        new JobContextImpl(own.getConfiguration(), own.getJobID()));
    fs.create(file("COMMIT_SUCCESS"), false).close();
  }

  private void ends(boolean success, long now) {
    stop();
    if (isCurrent()) {
      job.over(success, now);
    }
  }
}
