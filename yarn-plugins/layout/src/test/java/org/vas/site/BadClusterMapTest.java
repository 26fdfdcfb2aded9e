package org.vas.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.testing.Repository;

/** Bad maps are refused, each in one line with file, line and key path. */
class BadClusterMapTest {
  /** The planted mistakes that only {@code vas cluster check} refuses: placement works with them. */
  private static final Set<String> LEFT_TO_PYTHON = new TreeSet<>(Set.of(
      "address-not-ip", "address-of-resourcemanager-taken", "disk-of-an-ost", "disk-twice",
      "flock-among-options", "flock-unknown", "interface-twice", "mac-twice", "nid-no-address",
      "nids-empty", "queue-twice", "queues-not-100", "resourcemanager-other-address",
      "resourcemanager-unknown"));
  /** A key that is missing has no line, and of two hosts that do not fit the first is named. */
  private static final Map<String, String> OTHER_PATHS = Map.of(
      "key-missing", "lustre: key fsname is missing",
      "ha-own-partner", "hosts[0].ha_partner: ", "ha-unknown-host", "hosts[0].ha_partner: ");
  private static final Pattern PYTHON = Pattern.compile("[a-z-]+\\.yaml: ([a-z_.0-9\\[\\]]+): .*");

  @TempDir
  private Path folder;

  @Test
  void thePlantedMistakesAreRefusedWithThePathThatPythonNames() throws IOException {
    Set<String> accepted = new TreeSet<>();
    for (Path file : Repository.files("cluster/examples/bad", ".yaml")) {
      String name = String.valueOf(file.getFileName()).replace(".yaml", "");
      try {
        ClusterMap.load(file);
        accepted.add(name);
      } catch (ClusterMapException refused) {
        String message = String.valueOf(refused.getMessage());
        assertEquals(1, message.lines().count(), message);
        Matcher python = PYTHON.matcher(
            Files.readString(Repository.withEnding(file, ".expected")).stripTrailing());
        String path = python.matches() ? python.group(1) + ": " : "";
        path = OTHER_PATHS.getOrDefault(name, path);
        String expected = Pattern.quote(file + ":") + "[0-9]+: " + Pattern.quote(path) + ".*";
        assertTrue(message.matches(expected), message);
      }
    }
    assertEquals(LEFT_TO_PYTHON, accepted);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "osts: [1]       | osts: [-1]    | 23: hosts[1].osts[0]: -1 is out of range; expected the"
          + " indices of the OSTs it serves when nothing has failed over",
      "osts: [1]       | osts: 1       | 23: hosts[1].osts: is not a list",
      "osts: [1]       | osts: [one]   | 23: hosts[1].osts[0]: is not an integer",
      "osts: [1]       | osts: ['1']   | 23: hosts[1].osts[0]: is not an integer",
      "osts: [1]       | osts: [99999999999999999999] | 23: hosts[1].osts[0]: is not an integer of"
          + " 64 bits",
      "osts: [1]       | osts: [0]     | 23: hosts[1].osts[0]: 0 is also hosts[0].osts[0]; each must"
          + " have its own",
      "osts: [1]       | ost: [1]      | 23: hosts[1].ost: unknown key; did you mean osts?",
      "osts: [1]       | serves: [1]   | 23: hosts[1].serves: unknown key; known keys: name, address,"
          + " nids, osts, ha_partner, nics, storage_devices, guests",
      "osts: [1]       | '# no osts'   | 20: hosts[1]: key osts is missing",
      "fsname: lab     | fsname: la-b  | 4: lustre.fsname: 'la-b' is not valid; expected the file"
          + " system's name, 1 to 8 letters, digits or _",
      "fsname: lab     | fsname: 8     | 4: lustre.fsname: is not a string",
      "fsname: lab     | fsname:       | 4: lustre.fsname: is not a string",
      "fsname: lab     | fsname: [lab] | 4: lustre.fsname: is not a string",
      "fsname: lab     | {a: 1}: lab   | 4: lustre: has a key that is not a word; write KEY: VALUE",
      "site: laptop-lab| site: laptop: | 2: is not valid YAML: mapping values are not allowed here",
  })
  void aRefusalNamesLineAndPath(String from, String to, String expected) throws IOException {
    String text = Files.readString(Repository.path("cluster/examples/laptop-lab.yaml"));
    assertTrue(text.contains(from), from);
    assertEquals("x.yaml:" + expected, refusal(write(text.replaceFirst(
        Pattern.quote(from), Matcher.quoteReplacement(to)))));
  }

  @Test
  void anAliasBombIsRefused() throws IOException {
    String disks = "[&k {path: /a, size: 1GiB}" + ", *k".repeat(2000) + "]";
    String guest = "{disks: " + disks + ", name: vm1, address: 10.0.0.1, memory: 1GiB, vcpus: 1,"
        + " macs: {vf: 52:54:00:77:01:01, virtio: 52:54:00:77:01:02}}";
    String message = refusal(write("hosts:\n- guests: [&g " + guest + ", *g".repeat(2000) + "]\n"));
    assertTrue(message.endsWith("is value number 2000001; remove aliases"), message);
    assertEquals("x.yaml:1: hosts[0]: is not a mapping", refusal(write("hosts: &a [*a]\n")));
  }

  @Test
  void aMissingFileIsNamedWithTheKeyThatNamesIt() {
    assertEquals("none.yaml: no such file; name the map in vas.cluster.file",
        refusal(folder.resolve("none.yaml")));
  }

  @Test
  void aDirectoryIsNotAMap() {
    assertEquals(folder.getFileName() + ": cannot be read: Is a directory", refusal(folder));
  }

  @Test
  void aFileThatIsNotTextIsRefused() throws IOException {
    Path file = folder.resolve("x.yaml");
    Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    assertEquals("x.yaml: is not UTF-8 text", refusal(file));
    assertEquals("x.yaml:1: is empty", refusal(write("# nothing\n")));
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
