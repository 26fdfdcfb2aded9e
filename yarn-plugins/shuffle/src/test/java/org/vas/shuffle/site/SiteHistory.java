package org.vas.shuffle.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.mapreduce.TaskType;
import org.vas.filesystem.ModelDisk;
import org.vas.filesystem.ModelGuest;
import org.vas.shuffle.model.ModelTrees;

/**
 * Runs jobs, users, strangers, faults and the janitor on one site, in an order that a seed decides.
 * In the middle of any of them another one may come: it runs between two calls of the first.
 */
final class SiteHistory {
  private static final int MOST_STEPS = 30;
  private static final int LATEST_CALL = 25;
  private static final int FIRST_CALLS = 8;
  private static final int ROUNDS = 12;

  private final Site site;
  private final Random random;
  private final Path root;
  private final String name;
  private final SiteTasks tasks;
  private final SiteUsers users;
  private final SiteStranger stranger;
  private final SiteJanitor janitor;
  private final List<SiteJob> jobs = new ArrayList<>();
  private final List<String> taken = new ArrayList<>();
  private long now;
  private boolean isLogHindered;

  SiteHistory(Site site, Path directory, long seed) throws IOException {
    this.site = site;
    this.random = new Random(seed);
    this.name = "/h" + seed;
    this.root = Files.createDirectories(site.mount.resolve(name.substring(1)));
    Files.createDirectories(root.resolve("staging/.staging"));
    site.begin(random);
    this.tasks = new SiteTasks(site);
    this.users = new SiteUsers(site, name, random);
    this.stranger = new SiteStranger(directory);
    this.janitor =
        new SiteJanitor(root.resolve("staging/.staging"), site.guards.unknownIsNotOver);
  }

  /** Runs one history to its end, and says how many of its jobs succeeded. */
  static int run(Site site, Path directory, long seed) throws Exception {
    SiteHistory history = new SiteHistory(site, directory, seed);
    try {
      history.all();
      return (int) history.jobs.stream().filter(job -> job.succeeded).count();
    } catch (Exception | AssertionError e) {
      throw told(seed, history.taken, e);
    } finally {
      history.users.release();
      history.jobs.forEach(job -> job.masters.forEach(SiteMaster::release));
      site.end();
      ModelTrees.remove(history.root);
      ModelTrees.remove(directory.resolve("precious"));
    }
  }

  // The error keeps its kind; what happened is told with it.
  private static AssertionError told(long seed, List<String> taken, Throwable e) {
    String story = "replay it with -Dvas.site.seed=" + seed + ": " + taken;
    if (e instanceof Broken) {
      return new Broken(((Broken) e).invariant(), e.getMessage() + "; " + story, e);
    }
    return new AssertionError(e + "; " + story, e);
  }

  private void all() throws Exception {
    take(SiteStep.SUBMIT);
    int steps = 5 + random.nextInt(MOST_STEPS);
    for (int i = 0; i < steps; i++) {
      ModelGuest disturbed = random.nextInt(3) == 0 ? anyGuest() : null;
      if (disturbed != null) {
        SiteStep other = anyStep();
        int latest = random.nextBoolean() ? LATEST_CALL : FIRST_CALLS;
        disturbed.at(1 + random.nextInt(latest), () -> unchecked(other));
      }
      take(anyStep());
      site.guests.forEach(ModelGuest::undisturbed);
    }
    end();
  }

  private void unchecked(SiteStep step) {
    try {
      taken.add("in the middle:");
      take(step);
      taken.add("then goes on");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private SiteStep anyStep() {
    List<SiteStep> often = site.guards.often;
    return !often.isEmpty() && random.nextBoolean()
        ? often.get(random.nextInt(often.size())) : SiteStep.any(random);
  }

  private ModelGuest anyGuest() {
    return site.guests.get(random.nextInt(site.guests.size()));
  }

  private SiteJob anyJob() {
    return jobs.get(random.nextInt(jobs.size()));
  }

  private SiteMaster anyMaster() {
    List<SiteMaster> masters = anyJob().masters;
    return masters.get(masters.size() - 1 - random.nextInt(Math.min(2, masters.size())));
  }

  // ---- Steps.

  private void take(SiteStep step) throws Exception {
    taken.add(step.toString());
    switch (step) {
      case SUBMIT:
        submit();
        break;
      case MAP:
        map(anyMaster());
        break;
      case REDUCE:
        reduce(anyMaster());
        break;
      case COMMIT:
        commit(anyMaster());
        break;
      case NEW_MASTER:
        newMaster(anyJob());
        break;
      case CLEAN_UP:
        cleanUp(anyJob());
        break;
      default:
        takeFault(step);
    }
    users.forgetTheDead();
    checkLiveJobs();
  }

  private void takeFault(SiteStep step) throws Exception {
    switch (step) {
      case GUEST_DIES:
        if (!site.guards.onlyEvacuated) {
          anyGuest().dies();
        }
        break;
      case EVACUATE:
        evacuate(anyGuest());
        break;
      case OST_AWAY:
        site.disk().goesAway(random.nextInt(ModelDisk.OSTS));
        break;
      case OSTS_BACK:
        site.disk().allAreBack();
        break;
      case PLANT:
        plant(anyMaster());
        break;
      case RM_CHANGES:
        rmChanges(anyJob());
        break;
      case TIME:
        now += 1 + random.nextInt(2 * SiteJanitor.GRACE);
        break;
      case JANITOR:
        sweep(false);
        break;
      default:
        takeUser(step);
    }
  }

  private void takeUser(SiteStep step) throws Exception {
    switch (step) {
      case LOG_OPENS:
        users.opens(anyGuest());
        break;
      case LOG_APPENDS:
        users.appends();
        break;
      case RENAMES:
        users.renames(anyGuest());
        break;
      case REPLACES:
        users.replaces(anyGuest());
        break;
      default:
        throw new IllegalArgumentException(step.toString());
    }
  }

  private void submit() throws Exception {
    if (jobs.size() < 2) {
      SiteJob job =
          new SiteJob(name, jobs.size() + 1, 1 + random.nextInt(3), 1 + random.nextInt(2));
      jobs.add(job);
      new SiteMaster(site, job, anyGuest()).begin(now);
    }
  }

  private void map(SiteMaster master) throws Exception {
    if (master.isAlive()) {
      tasks.map(master, random.nextInt(master.job.maps), anyGuest());
    }
  }

  private void reduce(SiteMaster master) throws Exception {
    for (int map = 0; map < master.job.maps && master.isAlive(); map++) {
      if (!master.maps.containsKey(map)) {
        tasks.map(master, map, anyGuest());
      }
    }
    int reduce = random.nextInt(master.job.reduces);
    if (master.isAlive() && master.hasEveryMap() && !master.reduced.contains(reduce)) {
      tasks.reduce(master, reduce, anyGuest());
    }
  }

  private void commit(SiteMaster master) throws Exception {
    if (master.isAlive() && master.hasEveryReduce()) {
      master.commit(now);
    }
  }

  // The old one may still run: it is the ResourceManager that does not hear from it.
  private void newMaster(SiteJob job) throws Exception {
    if (!job.isOver()) {
      new SiteMaster(site, job, anyGuest()).begin(now);
    }
  }

  // A master that ends removes the job's staging directory.
  private void cleanUp(SiteJob job) throws Exception {
    SiteMaster last = job.current();
    if (job.isOver()) {
      Site.ran(last.guest, last.guest.life(), () ->
          site.files(last.guest).delete(last.guest.path(job.staging()), true));
    }
  }

  private void evacuate(ModelGuest guest) {
    if (site.guards.evacuationSyncs) {
      guest.syncs();
    }
    guest.dies();
  }

  private void diesAtTheEnd(ModelGuest guest) {
    if (site.guards.onlyEvacuated) {
      evacuate(guest);
    } else {
      guest.dies();
    }
  }

  private void rmChanges(SiteJob job) {
    job.forgotten = random.nextInt(4) == 0;
    job.doubted = random.nextInt(4) == 0;
  }

  private void sweep(boolean assumeOver) throws IOException {
    if (site.guards.janitorRuns) {
      janitor.sweep(jobs, site.mount, now, assumeOver);
    }
  }

  private void plant(SiteMaster master) throws IOException {
    String shuffle = master.job.staging() + "/shuffle";
    String attempt = shuffle + "/" + master.next(TaskType.MAP, 0);
    List<String> names = List.of(shuffle, attempt, master.job.staging() + "/COMMIT_STARTED",
        master.job.output() + "/_temporary", master.job.output(),
        master.job.output() + "/" + SiteJob.part(0), master.job.output() + "/_SUCCESS",
        users.log(), users.published(random.nextInt()));
    String at = names.get(random.nextInt(names.size()));
    if (stranger.plants(site.mount.resolve(at.substring(1)), random.nextBoolean())) {
      taken.add(at);
      master.job.hindered |= at.startsWith(name + "/staging") || at.startsWith(name + "/out");
      isLogHindered |= at.equals(users.log());
    }
  }

  // ---- What must hold.

  private void checkLiveJobs() {
    for (SiteJob job : jobs) {
      Path staging = site.mount.resolve(job.staging().substring(1));
      boolean began = job.told.containsKey(1);
      if (began && !job.isOver() && !Files.isDirectory(staging)) {
        throw new Broken(Broken.Invariant.LOST_BYTES, staging + " is gone, and its job is live");
      }
    }
  }

  private void end() throws Exception {
    site.disk().allAreBack();
    for (SiteJob job : jobs) {
      finish(job);
    }
    site.guests.forEach(this::diesAtTheEnd);
    users.forgetTheDead();
    for (SiteJob job : jobs) {
      checkOutput(job);
      job.over(false, now);
      job.doubted = false;
    }
    stranger.check();
    if (!isLogHindered) {
      users.check();
    }
    for (int i = 0; i < 3; i++) {
      now += SiteJanitor.GRACE;
      sweep(true);
    }
    checkLeftovers();
  }

  private void finish(SiteJob job) throws Exception {
    for (int round = 0; round < ROUNDS && !job.isOver(); round++) {
      if (!job.current().isAlive()) {
        newMaster(job);
      }
      for (int task = 0; task < 2 * job.reduces; task++) {
        reduce(job.current());
      }
      commit(job.current());
    }
    if (!job.isOver() && !job.hindered) {
      throw new Broken(Broken.Invariant.STUCK, job.name());
    }
  }

  private void checkOutput(SiteJob job) throws IOException {
    if (!job.succeeded) {
      return;
    }
    Path output = site.mount.resolve(job.output().substring(1));
    List<String> expected = Stream.concat(Stream.of("_SUCCESS"),
        Stream.iterate(0, i -> i + 1).limit(job.reduces).map(SiteJob::part))
        .sorted().collect(Collectors.toList());
    List<String> found = names(output);
    found.remove("_temporary");  // of an attempt that came later; no input format reads it
    require(found.equals(expected), job.name() + " has " + found);
    for (int reduce = 0; reduce < job.reduces; reduce++) {
      String got = Files.readString(output.resolve(SiteJob.part(reduce)));
      require(got.equals(job.expected(reduce)),
          job.name() + " reduce " + reduce + " is '" + got + "'");
    }
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new Broken(Broken.Invariant.WRONG_OUTPUT, otherwise);
    }
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> found = Files.list(directory)) {
      return found.map(each -> each.getFileName().toString()).sorted()
          .collect(Collectors.toCollection(ArrayList::new));
    }
  }

  private void checkLeftovers() throws IOException {
    List<String> left = new ArrayList<>(names(root.resolve("staging/.staging")));
    if (left.remove(".vas-janitor")) {
      left.addAll(names(root.resolve("staging/.staging/.vas-janitor")));
    }
    if (!left.isEmpty()) {
      throw new Broken(Broken.Invariant.LEFTOVER, "of jobs that are over: " + left);
    }
  }
}
