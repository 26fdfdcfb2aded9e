package org.vas.layout;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Turns {@code cluster.yaml} into a {@link ClusterMap}, or into all that is wrong with it. */
final class ClusterFile {
  private ClusterFile() {}

  static ClusterMap read(Path file) throws ClusterMapException {
    List<Problem> problems = new ArrayList<>();
    String text = text(file, problems);
    refuse(file, problems);
    Cursor document = Cursor.root(ClusterDocument.parse(text, problems));
    refuse(file, problems);
    SchemaCheck.check(document, problems);
    refuse(file, problems);
    ClusterRules.check(document, problems);
    refuse(file, problems);
    return map(document);
  }

  private static String text(Path file, List<Problem> problems) {
    if (Files.isDirectory(file)) {
      problems.add(unreadable("is a directory", "name the map in " + LayoutConf.CLUSTER_FILE.name()));
      return "";
    }
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      problems.add(unreadable("no such file", "name the map in " + LayoutConf.CLUSTER_FILE.name()));
    } catch (CharacterCodingException e) {
      problems.add(unreadable("not valid YAML", "check that it is a UTF-8 text file"));
    } catch (AccessDeniedException e) {
      problems.add(unreadable("cannot be read: Permission denied", "check its permissions"));
    } catch (IOException e) {
      problems.add(unreadable("cannot be read: " + e.getMessage(), "check its permissions"));
    }
    return "";
  }

  private static Problem unreadable(String what, String fix) {
    return new Problem(KeyPath.ROOT, what, fix);
  }

  private static void refuse(Path file, List<Problem> problems) throws ClusterMapException {
    if (!problems.isEmpty()) {
      throw new ClusterMapException(problems.stream()
          .sorted(Comparator.comparing(Problem::path))
          .map(problem -> problem.line(file))
          .collect(Collectors.joining("\n")));
    }
  }

  private static ClusterMap map(Cursor root) {
    Cursor lustre = root.get("lustre");
    List<Host> hosts = root.get("hosts").items().stream().map(ClusterFile::host)
        .collect(Collectors.toUnmodifiableList());
    return new ClusterMap(root.get("site").text(), lustre.get("fsname").text(),
        Path.of(lustre.get("mount").text()), hosts);
  }

  private static Host host(Cursor host) {
    return new Host(host.get("name").text(), host.get("address").text(),
        host.get("nids").items().stream().map(Cursor::text).collect(Collectors.toList()),
        host.get("osts").items().stream().map(Cursor::number).collect(Collectors.toList()),
        Optional.ofNullable(host.get("ha_partner").text()),
        host.get("guests").items().stream().map(ClusterFile::guest).collect(Collectors.toList()));
  }

  private static Guest guest(Cursor guest) {
    return new Guest(guest.get("name").text(), guest.get("address").text());
  }
}
