package org.vas.workloads.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;

class FaultPointTest {
  private static final int PROCESSES = 8;

  @TempDir
  Path directory;

  /** Reducers of one job come to a point at once; none meets a fault that nobody asked for. */
  @RepeatedTest(20)
  void processesThatAreHeldAtOnceDoNotDisturbEachOther() throws Exception {
    Files.createFile(directory.resolve("reads.go"));
    Configuration conf = new Configuration(false);
    conf.set(FaultConf.DIRECTORY.name(), directory.toString());
    conf.set(FaultConf.POINTS.name(), "reads .* open /manifest$ 1 hold");
    CyclicBarrier all = new CyclicBarrier(PROCESSES);
    ExecutorService threads = Executors.newFixedThreadPool(PROCESSES);
    try {
      List<Future<Boolean>> held = new ArrayList<>();
      for (int i = 0; i < PROCESSES; i++) {
        FaultPoint point = FaultPoint.of(conf).get(0);
        Callable<Boolean> comes = () -> {
          all.await();
          return point.at("open", "/job/manifest");
        };
        held.add(threads.submit(comes));
      }
      for (Future<Boolean> each : held) {
        assertEquals(true, each.get());
      }
    } finally {
      threads.shutdownNow();
    }
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(List.of("reads", "reads.go"), files.map(file -> file.getFileName().toString())
          .sorted().collect(Collectors.toList()));
    }
  }
}
