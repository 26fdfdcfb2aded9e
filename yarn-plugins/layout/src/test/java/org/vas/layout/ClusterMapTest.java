package org.vas.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The example maps that the Python reader is tested with too. */
class ClusterMapTest {
  @TempDir
  private Path folder;

  static List<Path> good() {
    return Repository.files("cluster/examples", ".yaml");
  }

  static List<Path> bad() {
    return Repository.files("cluster/examples/bad", ".yaml");
  }

  @ParameterizedTest
  @MethodSource("good")
  void everyNidOstAndGuestOfGoodExampleLeadsToItsHost(Path file) throws Exception {
    ClusterMap map = ClusterMap.load(file);
    for (Host host : map.hosts()) {
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

  @Test
  void guestsOfAHostShareItsOsts() throws Exception {
    String text = Files.readString(Repository.path("cluster/examples/laptop-lab.yaml"));
    String second = "      - {name: vm9, address: 10.77.0.29, memory: 1GiB, vcpus: 1,"
        + " macs: {vf: '52:54:00:77:09:01', virtio: '52:54:00:77:09:02'}}\n";
    ClusterMap map = ClusterMap.load(write(text.replace("osts: [0]", "osts: [0, 5]")
        .replaceFirst("  - name: oss2\n", second + "  - name: oss2\n")));
    Host host = map.hosts().get(0);
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
    Host owner = map.hostByOst(2).orElseThrow();
    assertEquals("oss3", owner.name());
    assertEquals("vm3", owner.guestFor(2).orElseThrow().name());
    assertEquals("oss4", map.partnerOf(owner).orElseThrow().name());
    assertEquals(Optional.empty(), map.hostByOst(4));
    assertEquals(Optional.empty(), map.hostByNid("10.0.0.1@tcp"));
    assertEquals(Optional.empty(), map.hostByGuest("oss1"));
  }

  @ParameterizedTest
  @MethodSource("bad")
  void badExampleIsRefusedWithTheLineThatPythonPrints(Path file) throws IOException {
    String expected = Files.readString(Repository.withEnding(file, ".expected")).stripTrailing();
    assertEquals(expected, refusal(file));
  }

  @Test
  void allProblemsComeAtOnceInTheOrderOfTheDocument() throws IOException {
    String text = Files.readString(Repository.path("cluster/examples/laptop-lab.yaml"));
    assertEquals(
        "x.yaml: hosts[1].osts[0]: -1 is less than 0; expected the indices of the OSTs it serves"
            + " when nothing has failed over\n"
            + "x.yaml: lustre.fsname: \"la-b\" is not valid; expected the file system's name, 1 to"
            + " 8 letters, digits or _",
        refusal(write(text.replace("osts: [1]", "osts: [-1]").replace("fsname: lab",
            "fsname: la-b"))));
  }

  @Test
  void anAliasBombIsRefused() throws IOException {
    StringBuilder bomb = new StringBuilder("l0: &l0 [x]\n");
    for (int i = 1; i < 12; i++) {
      String previous = "*l" + (i - 1);
      bomb.append(String.format("l%d: &l%d [%s]%n", i, i, String.join(", ",
          List.of(previous, previous, previous, previous, previous, previous, previous))));
    }
    String refused = "x.yaml: too large when its aliases are expanded; remove the aliases";
    assertEquals(refused, refusal(write(bomb.toString())));
    assertEquals(refused, refusal(write("a: &a [*a]\n")));
  }

  @Test
  void aKeyThatIsNotWordIsRefused() throws IOException {
    assertEquals("x.yaml: lustre: has a key that is not a word; write KEY: VALUE",
        refusal(write("site: x\nlustre: {{a: 1}: 2}\n")));
  }

  @Test
  void aMissingFileIsNamedWithTheKeyThatNamesIt() {
    assertEquals("none.yaml: no such file; name the map in vas.cluster.file",
        refusal(folder.resolve("none.yaml")));
  }

  @Test
  void aDirectoryIsNoMap() {
    assertEquals(folder.getFileName() + ": is a directory; name the map in vas.cluster.file",
        refusal(folder));
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
  void aFileThatIsNoTextIsRefused() throws IOException {
    Path file = folder.resolve("x.yaml");
    Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    assertEquals("x.yaml: not valid YAML; check that it is a UTF-8 text file", refusal(file));
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

  private static String refusal(Path file) {
    ClusterMapException refused =
        assertThrows(ClusterMapException.class, () -> ClusterMap.load(file));
    return String.valueOf(refused.getMessage()).replace(file.getParent() + "/", "");
  }
}
