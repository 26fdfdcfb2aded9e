package org.apache.hadoop.mapred;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.TaskHooks;
import org.vas.app.ContainerCounter;

/**
 * Remembers the state of a JVM and of its working directory before its first task, and restores it
 * after each task.
 */
final class JvmState {
  // More than this in use, after a collection, leaves the next task too little.
  private static final double HEAP_SHARE = 0.6;
  // The directory of java.io.tmpdir (MapReduceChildJVM).
  private static final String TEMPORARY = "tmp";

  private final Path directory;
  private final byte[] job;
  private final Map<String, String> files;
  private final Set<String> temporary;
  private final Set<Thread> threads;
  private final ClassLoader loader;
  private final double heapShare;
  private final TaskHooks hooks = TaskHooks.now();

  private JvmState(Path directory, byte[] job, Set<Thread> threads, ClassLoader loader,
      double heapShare) throws IOException {
    this.directory = directory;
    this.job = job;
    this.heapShare = heapShare;
    this.files = identities(directory);
    this.temporary = names(directory.resolve(TEMPORARY));
    this.threads = threads;
    this.loader = loader;
  }

  /**
   * Returns the present state.
   *
   * @param directory the container's: it has the job's job.xml, and {@code tmp} for the JVM's
   *     temporary files
   */
  static JvmState now(Path directory) throws IOException {
    return now(directory, HEAP_SHARE);
  }

  /** Returns the present state; {@code restore} allows this share of the heap in use. */
  static JvmState now(Path directory, double heapShare) throws IOException {
    byte[] job = Files.readAllBytes(directory.resolve(MRJobConfig.JOB_CONF_FILE));
    return new JvmState(directory, job, Set.copyOf(threadsNow()),
        Thread.currentThread().getContextClassLoader(), heapShare);
  }

  /**
   * Restores the state: removes files and log hooks that a task left behind, and closes its file
   * systems.
   *
   * @return why this JVM must not run another task; null when it may
   * @throws IOException if the container's directory cannot be read
   */
  Unfit restore() throws IOException {
    YarnChild.taskid = null;
    Thread.interrupted();
    if (Thread.currentThread().getContextClassLoader() != loader) {
      return new Unfit(
          ContainerCounter.JVMS_ENDED_CLASS_LOADER, "its task changed the class loader");
    }
    List<String> left = threadsNow().stream()
        .filter(thread -> !threads.contains(thread) && !thread.isDaemon())
        .map(Thread::getName).collect(Collectors.toList());
    if (!left.isEmpty()) {
      return new Unfit(ContainerCounter.JVMS_ENDED_THREADS,
          "its task left threads that keep it alive: " + String.join(", ", left));
    }
    Optional<String> hook = hooks.restore();
    if (hook.isPresent()) {
      return new Unfit(ContainerCounter.JVMS_ENDED_SHUTDOWN_HOOK,
          "its task added a shutdown hook: " + hook.get());
    }
    Optional<String> changed = changedFile();
    if (changed.isPresent()) {
      return new Unfit(ContainerCounter.JVMS_ENDED_FILES,
          "its task removed or replaced a file of the container: " + changed.get());
    }
    if (isHeapFull()) {
      return new Unfit(ContainerCounter.JVMS_ENDED_HEAP,
          "its task left more than " + heapShare + " of the heap in use");
    }
    FileSystem.closeAll();
    FileSystem.clearStatistics();
    try {
      restoreFiles();
    } catch (IOException e) {
      return new Unfit(ContainerCounter.JVMS_ENDED_FILES,
          "what its task left cannot be removed: " + e.getMessage());
    }
    return null;
  }

  // The task's own job.xml was written over the job's; the next task's begins with that again.
  private void restoreFiles() throws IOException {
    deleteAllBut(files.keySet(), directory);
    deleteAllBut(temporary, directory.resolve(TEMPORARY));
    Path fresh = directory.resolve(MRJobConfig.JOB_CONF_FILE + ".fresh");
    Files.write(fresh, job);
    Files.move(fresh, directory.resolve(MRJobConfig.JOB_CONF_FILE),
        StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void deleteAllBut(Set<String> kept, Path directory) throws IOException {
    for (String name : names(directory)) {
      File left = directory.resolve(name).toFile();
      if (!kept.contains(name) && !FileUtil.fullyDelete(left)) {
        throw new IOException(left + ": cannot be deleted");
      }
    }
  }

  // A link of the distributed cache that leads elsewhere, for one: the next task would read that.
  private Optional<String> changedFile() throws IOException {
    Map<String, String> found = identities(directory);
    return files.keySet().stream().sorted()
        .filter(name -> !files.get(name).equals(found.get(name))).findFirst();
  }

  // What tells whether a name still means the same. Each task replaces job.xml, a link, by its own.
  private static Map<String, String> identities(Path directory) throws IOException {
    Map<String, String> found = new HashMap<>();
    for (String name : names(directory)) {
      Path file = directory.resolve(name);
      BasicFileAttributes attributes =
          Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      String key = attributes.isSymbolicLink()
          ? "to " + Files.readSymbolicLink(file) : String.valueOf(attributes.fileKey());
      found.put(name, name.equals(MRJobConfig.JOB_CONF_FILE) ? "" : key);
    }
    return found;
  }

  private static Set<String> names(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return Set.of();
    }
    try (Stream<Path> all = Files.list(directory)) {
      return all.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
    }
  }

  private static Set<Thread> threadsNow() {
    return Thread.getAllStackTraces().keySet();
  }

  // A collection costs as much as the heap has live: only where the last one left much.
  private boolean isHeapFull() {
    if (!isOldGenerationFull()) {
      return false;
    }
    System.gc();
    Runtime heap = Runtime.getRuntime();
    return heap.totalMemory() - heap.freeMemory() > heapShare * heap.maxMemory();
  }

  private boolean isOldGenerationFull() {
    MemoryPoolMXBean old = null;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      boolean larger = old == null || pool.getUsage().getMax() > old.getUsage().getMax();
      if (pool.getType() == MemoryType.HEAP && larger) {
        old = pool;
      }
    }
    MemoryUsage usage = old == null ? null : old.getUsage();
    return usage == null || usage.getUsed() > heapShare * usage.getMax();
  }
}
