package org.vas.shuffle.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Puts links to another's files where the site's code makes its names. */
final class SiteStranger {
  private final Path precious;
  private final Path file;
  private final Map<String, String> before;

  /** @param directory outside the mount; it gets what must never change */
  SiteStranger(Path directory) throws IOException {
    this.precious = Files.createDirectories(directory.resolve("precious"));
    this.file = Files.writeString(precious.resolve("file"), "a stranger's bytes");
    Files.writeString(Files.createDirectories(precious.resolve("below")).resolve("other"), "x");
    this.before = seen();
  }

  /** Plants a link, if nothing has the name and its directory is there; returns whether it did. */
  boolean plants(Path name, boolean toDirectory) throws IOException {
    if (Files.exists(name, LinkOption.NOFOLLOW_LINKS)
        || !Files.isDirectory(name.getParent(), LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    Files.createSymbolicLink(name, toDirectory ? precious : file);
    return true;
  }

  private Map<String, String> seen() throws IOException {
    Map<String, String> seen = new TreeMap<>();
    try (Stream<Path> all = Files.walk(precious)) {
      for (Path each : (Iterable<Path>) all::iterator) {
        seen.put(each.toString(), Files.isRegularFile(each) ? Files.readString(each) : "");
      }
    }
    return seen;
  }

  void check() throws IOException {
    Map<String, String> now = seen();
    if (!now.equals(before)) {
      throw new Broken(Broken.Invariant.STRANGERS_FILE, "was " + before + " and is " + now);
    }
  }
}
