package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Follows the system calls of Hadoop's committers: no file is renamed before its bytes are on disk.
 */
class CommitTest {
  private Configuration conf;
  private java.nio.file.Path mount;

  @BeforeEach
  void mount() {
    conf = TestMount.configuration();
    mount = TestMount.mount(conf);
  }

  /** The calls of a process that runs one of {@link Committing}'s. */
  private List<String[]> calls(String... arguments) throws Exception {
    java.nio.file.Path record = Files.createTempFile(mount.getParent(), "calls", "");
    List<String> all = new ArrayList<>(List.of(mount.toString()));
    all.addAll(List.of(arguments));
    try (Forked process = Forked.start(Committing.class,
        Map.of("LD_PRELOAD", Forked.library("record_calls").toString(),
            "VAS_RECORD", record.toString()), all.toArray(new String[0]))) {
      assertEquals(0, process.status());
    }
    return Files.readAllLines(record).stream().map(line -> line.split(" ", -1))
        .filter(call -> call[1].startsWith(mount.toString())).collect(Collectors.toList());
  }

  /**
   * Follows files by their names. A file is renamed only when its last write is followed by an
   * fsync; with a directory goes all below it. Returns the names that end with bytes on disk.
   */
  private static Set<String> synced(List<String[]> calls) {
    Map<String, Boolean> onDisk = new HashMap<>();
    for (String[] call : calls) {
      String file = call[1].replaceAll("/$", "");
      if (call[0].equals("write")) {
        onDisk.put(file, false);
      } else if (call[0].equals("fsync")) {
        onDisk.put(file, true);
      } else {
        for (String name : new HashSet<>(onDisk.keySet())) {
          if (name.equals(file) || name.startsWith(file + "/")) {
            assertTrue(onDisk.get(name), name + ": renamed before it was on disk");
            onDisk.put(call[2] + name.substring(file.length()), onDisk.remove(name));
          }
        }
      }
    }
    return onDisk.entrySet().stream().filter(Map.Entry::getValue).map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private static long count(List<String[]> calls, String name) {
    return calls.stream().filter(call -> call[0].equals(name)).count();
  }

  private Set<String> filesBelow(String directory) throws IOException {
    try (Stream<java.nio.file.Path> all = Files.walk(mount.resolve(directory))) {
      return all.filter(Files::isRegularFile).map(java.nio.file.Path::toString)
          .collect(Collectors.toSet());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "2", "manifest"})
  void D1_whatACommitterRenamesIsOnDiskBefore(String committer) throws Exception {
    List<String[]> calls = calls(committer);
    Set<String> there = filesBelow("output");
    assertTrue(there.size() > Committing.TASKS, there.toString());
    Set<String> synced = synced(calls);
    assertTrue(synced.containsAll(there), () -> there + " of which on disk " + synced);
    // The manifest committer writes a manifest for each task too; each job a _SUCCESS.
    int files = committer.equals("manifest") ? 2 : 1;
    assertEquals(files * Committing.TASKS + 1, count(calls, "fsync"), "one for each file");
  }

  @Test
  void D1_whatPutCopiesIsOnDiskBeforeItHasItsName() throws Exception {
    java.nio.file.Path source = Files.createTempFile(mount.getParent(), "source", "");
    Files.write(source, new byte[3 << 20]);
    List<String[]> calls = calls("put", source.toString());
    assertEquals(Set.of(mount.resolve("put").toString()), synced(calls));
    assertEquals(1, count(calls, "fsync"));
    assertEquals(1, count(calls, "link"), "from put._COPYING_");
  }

  @Test
  void D1_aCloseWhoseFsyncFailsIsAnError() throws Exception {
    Files.createSymbolicLink(mount.resolve("a"), java.nio.file.Path.of("/dev/null"));
    OpenFile file = OpenFile.of(mount.resolve("a"), StandardOpenOption.WRITE);
    LustreOutputStream out = new LustreOutputStream(new Path("/a"), file, 0, 4096, false);
    out.write(1);
    IOException error = assertThrows(IOException.class, out::close);
    assertTrue(error.getMessage().startsWith("/a: fsync: EINVAL"), error.getMessage());
  }

  @Test
  void D1_whatATaskCanWriteAgainStaysLazy() throws Exception {
    Mounted mounted = Mounted.configured(conf, Map.of(), TestMount.MDS);
    for (String lazy : List.of("staging/job_1_1/shuffle/attempt_1_1_m_000000_0/packed.mof",
        "staging/job_1_1/shuffle/attempt_1_1_r_000000_0/pass-1")) {
      assertTrue(mounted.isLazy(mount.resolve(lazy)), lazy);
    }
    for (String durable : List.of("output/_temporary/0/_temporary/attempt_1_1_r_000000_0/part",
        "staging/job_1_1/job.xml", "history/done/job_1_1.jhist", "logs/ann/node", "a")) {
      assertFalse(mounted.isLazy(mount.resolve(durable)), durable);
    }
  }

  /** Each attempt of a task commits at once, which the master does not let happen. */
  @ParameterizedTest
  @ValueSource(strings = {"1", "2", "manifest"})
  void R1_committersLoseNothingToOneAnother(String committer) throws Exception {
    for (int round = 0; round < 5; round++) {
      FileSystem files = TestMount.fileSystem(conf);
      files.delete(new Path("/output"), true);
      List<Integer> committed = new Committing(conf, committer).job(3);
      for (int task = 0; task < Committing.TASKS; task++) {
        assertTrue(committed.get(task) >= 1, "none of task " + task);
        String got = Files.readString(mount.resolve("output/" + Committing.part(task)));
        assertTrue(got.matches("task " + task + " attempt [012]"), got);
      }
      assertTrue(files.exists(new Path("/output/_SUCCESS")));
    }
  }

  /** How long a small file takes with and without, on whatever disk the build directory is. */
  @Test
  void D1_printsWhatASyncedSmallFileCosts() throws Exception {
    for (String lazy : List.of(".*", "", ".*", "")) {
      conf.set("vas.lustre.lazy-paths", lazy);
      FileSystem files = TestMount.fileSystem(conf);
      long start = System.nanoTime();
      for (int i = 0; i < 200; i++) {
        try (FSDataOutputStream out = files.create(new Path("/small" + i), true)) {
          out.write(new byte[4096]);
        }
      }
      System.out.printf("small files, %s: %d us each%n", lazy.isEmpty() ? "synced" : "lazy",
          (System.nanoTime() - start) / 200_000);
    }
  }
}
