package org.vas.site;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.vas.layout.StripeRun;
import org.vas.testing.Repository;

/**
 * Finds the servers of OSTs in the laptop lab's map: OST 0 to 3 are on oss1 to oss4, whose NIDs are
 * 10.77.0.11@tcp and so on.
 */
class OstServersTest {
  private static final String OSS2 = "10.77.0.12@tcp";
  private static final Duration TTL = Duration.ofSeconds(10);

  @TempDir
  private Path root;
  private final AtomicLong nanos = new AtomicLong();
  private OstServers owners;

  @BeforeEach
  void readMap() throws ClusterMapException {
    ClusterMap map = ClusterMap.load(Repository.path("cluster/examples/laptop-lab.yaml"));
    owners = new OstServers(map, root, "oss4", TTL, nanos::get);
  }

  @Test
  void withoutLustreClientTheMapAnswers() {
    assertEquals("oss3", owner(2));
    assertEquals("none", owner(4));
    assertEquals("none", owner(StripeRun.UNKNOWN));
  }

  @Test
  void theNidInUseGoesBeforeTheMap() throws IOException {
    serve("lab-OST0000-osc-ffff8de0", OSS2);
    assertEquals("oss2", owner(0));
    assertEquals("oss2", owner(1));
  }

  @Test
  void anOstBeyondTheMapIsFoundByItsNid() throws IOException {
    serve("lab-OST000a-osc-8de0", OSS2);
    assertEquals("oss2", owner(10));
  }

  @Test
  void whatIsNotThisClientsIsLeftAlone() throws IOException {
    serve("lab-OST0000-osc-MDT0000", OSS2);
    serve("other-OST0000-osc-ffff8de0", OSS2);
    serve("lab-OST0000", OSS2);
    assertEquals("oss1", owner(0));
  }

  @Test
  void loopbackIsThisVeryHost() throws IOException {
    serve("lab-OST0000-osc-ffff8de0", "0@lo");
    assertEquals("oss4", owner(0));
  }

  @Test
  void anUnknownOrEmptyNidLeavesItToTheMap() throws IOException {
    serve("lab-OST0000-osc-ffff8de0", "192.168.9.9@tcp");
    serve("lab-OST0001-osc-ffff8de0", "");
    Files.createDirectories(root.resolve("sys/fs/lustre/osc/lab-OST0002-osc-ffff8de0"));
    assertEquals("oss1", owner(0));
    assertEquals("oss2", owner(1));
    assertEquals("oss3", owner(2));
  }

  @Test
  void instancesThatAgreeAnswerAndOthersLeaveItToTheMap() throws IOException {
    serve("lab-OST0000-osc-ffff8de0", OSS2);
    serve("lab-OST0000-osc-ffff8de8", OSS2);
    serve("lab-OST0002-osc-ffff8de0", OSS2);
    serve("lab-OST0002-osc-ffff8de8", "10.77.0.14@tcp");
    assertEquals("oss2", owner(0));
    assertEquals("oss3", owner(2));
  }

  @Test
  void anAnswerIsKeptForItsTime() throws IOException {
    serve("lab-OST0000-osc-ffff8de0", "10.77.0.11@tcp");
    assertEquals("oss1", owner(0));
    serve("lab-OST0000-osc-ffff8de0", OSS2);
    nanos.addAndGet(TTL.toNanos() - 1);
    assertEquals("oss1", owner(0));
    nanos.addAndGet(1);
    assertEquals("oss2", owner(0));
  }

  @Test
  void refreshForgetsTheAnswer() throws IOException {
    serve("lab-OST0000-osc-ffff8de0", "10.77.0.11@tcp");
    assertEquals("oss1", owner(0));
    serve("lab-OST0000-osc-ffff8de0", OSS2);
    owners.refresh();
    assertEquals("oss2", owner(0));
  }

  @Test
  void aMissIsLookedForAgainAfterASecondAndNotBefore() throws IOException {
    serve("lab-OST0000-osc-ffff8de0", OSS2);
    assertEquals("none", owner(9));
    serve("lab-OST0009-osc-ffff8de0", OSS2);
    nanos.addAndGet(999_999_999);
    assertEquals("none", owner(9));
    nanos.addAndGet(1);
    assertEquals("oss2", owner(9));
  }

  private void serve(String directory, String nid) throws IOException {
    Path folder = Files.createDirectories(root.resolve("sys/fs/lustre/osc").resolve(directory));
    Files.writeString(folder.resolve("ost_conn_uuid"), nid + "\n");
  }

  private String owner(int ostIndex) {
    return owners.ownerOf(ostIndex).map(SiteHost::name).orElse("none");
  }
}
