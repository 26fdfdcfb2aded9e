package org.apache.hadoop.mapred;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.hadoop.util.TaskHooks;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.vas.app.ContainerCounter;

class JvmStateTest {
  @TempDir Path container;
  @TempDir Path cache;
  private JvmState state;

  @BeforeEach
  void take() throws IOException {
    Path job = Files.writeString(cache.resolve("job.xml"), "<configuration/>");
    Files.createSymbolicLink(container.resolve("job.xml"), job);
    Files.createSymbolicLink(container.resolve("stop.txt"), cache.resolve("stop.txt"));
    Files.createDirectory(container.resolve("tmp"));
    Files.writeString(container.resolve("tmp/before"), "of the JVM");
    Files.writeString(container.resolve("words.txt"), "of the distributed cache");
    state = JvmState.now(container);
  }

  @Test
  void theJobsConfigurationIsBackAndNoFileOfTheTaskIs() throws IOException {
    Files.delete(container.resolve("job.xml"));
    Files.writeString(container.resolve("job.xml"), "the task's own");
    Files.writeString(container.resolve("tmp/scratch"), "x");
    Files.createDirectories(container.resolve("left/over"));
    Files.writeString(container.resolve("left/over/file"), "x");
    assertNull(state.restore());
    assertEquals("<configuration/>", Files.readString(container.resolve("job.xml")));
    assertFalse(Files.exists(container.resolve("left")));
    assertTrue(Files.exists(container.resolve("words.txt")));
    assertFalse(Files.exists(container.resolve("tmp/scratch")));
    assertTrue(Files.exists(container.resolve("tmp/before")));
    assertEquals("<configuration/>", Files.readString(cache.resolve("job.xml")));
    assertNull(state.restore());
  }

  @Test
  void aLinkOfTheCacheThatTheTaskReplacedOrRemovedMakesTheJvmUnfit() throws IOException {
    Path link = container.resolve("stop.txt");
    Files.delete(link);
    assertUnfitFor("stop.txt");
    Files.createSymbolicLink(link, cache.resolve("other.txt"));
    assertUnfitFor("stop.txt");
    Files.delete(link);
    Files.writeString(link, "its own");
    assertUnfitFor("stop.txt");
  }

  @Test
  void aFileThatTheTaskReplacedMakesTheJvmUnfit() throws IOException {
    Path other = Files.writeString(container.resolve("other"), "x");
    Files.move(other, container.resolve("words.txt"), StandardCopyOption.REPLACE_EXISTING);
    assertUnfitFor("words.txt");
  }

  @Test
  void aJobXmlThatCannotBeReplacedMakesTheJvmUnfit() throws IOException {
    Files.delete(container.resolve("job.xml"));
    Files.createDirectories(container.resolve("job.xml/full"));
    Unfit unfit = state.restore();
    assertTrue(unfit.toString().contains("cannot be removed"), unfit.toString());
    assertEquals(ContainerCounter.JVMS_ENDED_FILES, unfit.counter);
  }

  @Test
  void aHeapThatStaysTooFullMakesTheJvmUnfit() throws IOException {
    assertNull(JvmState.now(container, 1).restore());
    Unfit unfit = JvmState.now(container, 0).restore();
    assertEquals(ContainerCounter.JVMS_ENDED_HEAP, unfit.counter);
  }

  private void assertUnfitFor(String name) throws IOException {
    Unfit unfit = state.restore();
    assertTrue(unfit.toString().endsWith(name), unfit.toString());
    assertEquals(ContainerCounter.JVMS_ENDED_FILES, unfit.counter);
  }

  @Test
  void aLinkThatTheTaskLeftIsRemovedAndNotFollowed(@TempDir Path elsewhere) throws IOException {
    Path kept = Files.writeString(elsewhere.resolve("kept"), "x");
    Files.createSymbolicLink(container.resolve("link"), elsewhere);
    assertNull(state.restore());
    assertFalse(Files.exists(container.resolve("link")));
    assertTrue(Files.exists(kept));
  }

  @Test
  void aThreadThatIsNoDaemonMakesTheJvmUnfit() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Thread left = new Thread(() -> await(end), "left-by-a-task");
    left.start();
    try {
      Unfit unfit = state.restore();
      assertTrue(unfit.toString().contains("left-by-a-task"), unfit.toString());
      assertEquals(ContainerCounter.JVMS_ENDED_THREADS, unfit.counter);
    } finally {
      end.countDown();
      left.join();
    }
    assertNull(state.restore());
  }

  @Test
  void aShutdownHookOfTheTasksMakesTheJvmUnfit() throws IOException {
    Runnable hook = new Thread(() -> { });
    ShutdownHookManager.get().addShutdownHook(hook, 1);
    try {
      Unfit unfit = state.restore();
      assertTrue(unfit.toString().contains("java.lang.Thread"), unfit.toString());
      assertEquals(ContainerCounter.JVMS_ENDED_SHUTDOWN_HOOK, unfit.counter);
    } finally {
      ShutdownHookManager.get().removeShutdownHook(hook);
    }
  }

  @Test
  void theHookOfATasksLogThreadGoesWithTheTask() throws IOException {
    TaskHooks before = TaskHooks.now();
    ScheduledExecutorService syncer = TaskLog.createLogSyncer();
    assertNotEquals(before, TaskHooks.now());
    TaskLog.syncLogsShutdown(syncer);
    assertNull(state.restore());
    assertEquals(before, TaskHooks.now());
  }

  @Test
  void anotherClassLoaderMakesTheJvmUnfit() throws Exception {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (URLClassLoader other = new URLClassLoader(new URL[0])) {
      Thread.currentThread().setContextClassLoader(other);
      Unfit unfit = state.restore();
      assertTrue(unfit.toString().contains("class loader"), unfit.toString());
      assertEquals(ContainerCounter.JVMS_ENDED_CLASS_LOADER, unfit.counter);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  @Test
  void openFileSystemsAndTheirCountersAreGone() throws IOException {
    FileSystem before = FileSystem.getLocal(new Configuration());
    before.create(new org.apache.hadoop.fs.Path(container + "/words.txt"), true).close();
    before.open(new org.apache.hadoop.fs.Path(container + "/words.txt")).close();
    assertNull(state.restore());
    assertTrue(before != FileSystem.getLocal(new Configuration()));
    assertEquals(0, FileSystem.getGlobalStorageStatistics().get("file").getLong("writeOps"));
  }

  @Test
  void anInterruptOfTheTaskIsNotTheNextOnes() throws IOException {
    Thread.currentThread().interrupt();
    assertNull(state.restore());
    assertFalse(Thread.currentThread().isInterrupted());
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
