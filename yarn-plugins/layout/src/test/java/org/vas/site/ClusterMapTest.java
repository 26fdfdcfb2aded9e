package org.vas.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.vas.testing.CpuTime;
import org.vas.testing.Repository;

/** Reads the example maps with which the Python reader is tested too. */
class ClusterMapTest {
  @TempDir
  private Path folder;

  static List<Path> good() {
    List<Path> files = new ArrayList<>(Repository.files("cluster/examples", ".yaml"));
    files.addAll(Repository.files("cluster/examples/unusual", ".yaml"));
    return files;
  }

  @ParameterizedTest
  @MethodSource("good")
  void everyNidOstAndGuestOfGoodExampleLeadsToItsHost(Path file) throws Exception {
    ClusterMap map = ClusterMap.load(file);
    for (SiteHost host : map.hosts()) {
      assertEquals(Optional.of(host), map.host(host.name()));
      host.nids().forEach(nid -> assertEquals(Optional.of(host), map.hostByNid(nid)));
      host.osts().forEach(ost -> assertEquals(Optional.of(host), map.hostByOst(ost)));
      host.guests().forEach(
          guest -> assertEquals(Optional.of(host), map.hostByGuest(guest.name())));
      map.partnerOf(host).ifPresent(
          partner -> assertEquals(Optional.of(host), map.partnerOf(partner)));
    }
  }

  @Test
  void findsANidHoweverItIsSpelt() throws Exception {
    String text = Files.readString(Repository.path("cluster/examples/laptop-lab.yaml"));
    String nid = ClusterMap.load(Repository.path("cluster/examples/laptop-lab.yaml"))
        .hosts().get(1).nids().get(0);
    Path file = Files.writeString(folder.resolve("x.yaml"),
        text.replace("[" + nid + "]", "[\"fd00:0:0:0::12@tcp1\"]"));
    ClusterMap map = ClusterMap.load(file);
    assertEquals(Optional.of(map.hosts().get(1)), map.hostByNid("fd00::12@tcp1"));
    assertEquals(Optional.empty(), map.hostByNid("fd00::12@tcp"));
  }

  /** A JVM keeps the last text's map; a file that is written over is read again. */
  @Test
  void aChangedFileOfTheSameLengthIsReadAgain() throws Exception {
    Path source = Repository.path("cluster/examples/laptop-lab.yaml");
    String text = Files.readString(source);
    Path file = Files.writeString(folder.resolve("x.yaml"), text);
    ClusterMap first = ClusterMap.load(file);
    assertSame(first, ClusterMap.load(file));
    String name = first.site();
    Files.writeString(file, text.replace("site: " + name, "site: " + "x".repeat(name.length())));
    assertEquals("x".repeat(name.length()), ClusterMap.load(file).site());
    Files.writeString(file, "no map");
    assertThrows(ClusterMapException.class, () -> ClusterMap.load(file));
    assertEquals(name, ClusterMap.load(source).site());
  }

  @Test
  void guestsOfAHostShareItsOsts() throws Exception {
    String text = Files.readString(Repository.path("cluster/examples/laptop-lab.yaml"));
    String second = "      - {name: vm9, address: 10.77.0.29, memory: 1GiB, vcpus: 1,"
        + " macs: {vf: '52:54:00:77:09:01', virtio: '52:54:00:77:09:02'}}\n";
    ClusterMap map = ClusterMap.load(write(text.replace("osts: [0]", "osts: [0, 5]")
        .replaceFirst("  - name: oss2\n", second + "  - name: oss2\n")));
    SiteHost host = map.hosts().get(0);
    assertEquals("vm1", host.guestFor(0).orElseThrow().name());
    assertEquals("vm9", host.guestFor(5).orElseThrow().name());
    assertEquals(Optional.of(host), map.hostByGuest("vm9"));
  }

  @Test
  void readsWhatTheLabNeeds() throws Exception {
    ClusterMap map = ClusterMap.load(Repository.path("cluster/examples/laptop-lab.yaml"));
    assertEquals("laptop-lab", map.site());
    assertEquals("lab", map.fsname());
    assertTrue(map.mount().isAbsolute());
    assertEquals(4, map.hosts().size());
    SiteHost owner = map.hostByOst(2).orElseThrow();
    assertEquals("oss3", owner.name());
    assertEquals("vm3", owner.guestFor(2).orElseThrow().name());
    assertEquals("oss4", map.partnerOf(owner).orElseThrow().name());
    assertEquals(Optional.empty(), map.hostByOst(4));
    assertEquals(Optional.empty(), map.hostByNid("10.0.0.1@tcp"));
    assertEquals(Optional.empty(), map.hostByGuest("oss1"));
  }

  @Test
  void everyKeyAndEverySpellingThatPythonAcceptsIsAccepted() throws Exception {
    Path file = Repository.path("cluster/examples/unusual/every-key.yaml");
    String text = Files.readString(file);
    for (String flock : List.of("flock", "localflock", "noflock")) {
      ClusterMap map = ClusterMap.load(write(text.replace("flock: noflock", "flock: " + flock)));
      assertEquals("2026", map.site());
      assertEquals(Path.of("/lustre/a:b"), map.mount());
      assertEquals(List.of(0, 65534), map.hosts().get(0).osts());
      assertEquals("no", map.partnerOf(map.host("1.5").orElseThrow()).orElseThrow().name());
      assertEquals("no", map.hostByGuest("0o17").orElseThrow().name());
      assertEquals(Optional.of(map.hosts().get(1)), map.hostByNid("fe80:0::12@tcp1"));
    }
  }

  @Test
  void theResourceManagersAddressMayBeSpelledOtherwise() throws Exception {
    String text = Files.readString(Repository.path("cluster/examples/laptop-lab.yaml"));
    String address = ClusterMap.load(write(text)).host("oss1").orElseThrow().address();
    String manager = "resourcemanager: {name: oss1, address: \"::ffff:" + address + "\"}\n";
    String before = text.substring(0, text.indexOf("resourcemanager:"));
    assertEquals("laptop-lab", ClusterMap.load(write(before + manager)).site());
  }

  @Test
  void aThousandHostsAreReadInUnderASecond() throws Exception {
    Path file = write("site: large\nlustre: {fsname: big, mount: /big, mgs_nids: [10.0.0.1@tcp]}\n"
        + "hosts:\n"
        + IntStream.range(0, 1000).mapToObj(ClusterMapTest::largeHost).collect(Collectors.joining())
        + "yarn: {resourcemanager: {name: rm, address: 10.0.0.2}}\n");
    ClusterMap map = ClusterMap.load(file);
    assertEquals(1000, map.hosts().size());
    assertEquals("oss999", map.hostByOst(1999).orElseThrow().name());
    double millis = CpuTime.millisOf(() -> ClusterMap.load(file));
    assertTrue(millis < 1000, () -> "took " + millis + " ms");
  }

  private static String largeHost(int i) {
    return String.format("  - name: oss%1$d\n"
        + "    address: 10.1.%2$d.%3$d\n"
        + "    nids: [10.1.%2$d.%3$d@tcp]\n"
        + "    osts: [%4$d, %5$d]\n"
        + "    ha_partner: oss%6$d\n"
        + "    nics: {pf: pf0, vf: vf0, bridge: br0}\n"
        + "    guests:\n"
        + "    - name: vm%1$d\n"
        + "      address: 10.2.%2$d.%3$d\n"
        + "      macs: {vf: \"52:54:00:%2$02x:%3$02x:01\", virtio: \"52:54:00:%2$02x:%3$02x:02\"}\n"
        + "      memory: 64GiB\n"
        + "      vcpus: 16\n",
        i, i / 250, i % 250, 2 * i, 2 * i + 1, i ^ 1);
  }

  private Path write(String text) throws IOException {
    return Files.writeString(folder.resolve("x.yaml"), text);
  }
}
