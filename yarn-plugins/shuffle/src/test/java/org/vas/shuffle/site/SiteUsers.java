package org.vas.shuffle.site;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.vas.filesystem.ModelGuest;

/**
 * Users next to the jobs: they append to one log, rename their files to names that others want too,
 * and replace files. What a call acknowledged is written down, and looked for in the end.
 */
final class SiteUsers {
  private static final int NAMES = 3;

  private final Site site;
  private final Random random;
  private final String root;
  private final List<Appender> appenders = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();
  private final Map<String, List<String>> renamed = new HashMap<>();
  private final Map<String, String> replaced = new HashMap<>();
  private final Map<String, Integer> running = new HashMap<>();
  private final Map<String, Integer> versions = new HashMap<>();
  private int number;

  SiteUsers(Site site, String root, Random random) {
    this.site = site;
    this.root = root;
    this.random = random;
  }

  private static final class Appender {
    private final ModelGuest guest;
    private final int life;
    private final FSDataOutputStream out;
    private final List<String> written = new ArrayList<>();
    private boolean busy;

    Appender(ModelGuest guest, FSDataOutputStream out) {
      this.guest = guest;
      this.life = guest.life();
      this.out = out;
    }
  }

  String log() {
    return root + "/log";
  }

  String published(int name) {
    return root + "/published" + Math.floorMod(name, NAMES);
  }

  // ---- The log.

  void opens(ModelGuest guest) throws Exception {
    Site.ran(guest, guest.life(), () -> {
      FileSystem fs = site.files(guest);
      FSDataOutputStream out = fs.exists(guest.path(log()))
          ? fs.append(guest.path(log())) : fs.create(guest.path(log()), false);
      appenders.add(new Appender(guest, out));
      return null;
    });
  }

  /** One of those that have it open writes a line, flushes it, or closes it. */
  void appends() throws Exception {
    if (appenders.isEmpty()) {
      return;
    }
    Appender one = appenders.get(random.nextInt(appenders.size()));
    if (one.busy) {
      return;  // a stream is one thread's
    }
    int what = random.nextInt(3);
    one.busy = true;
    if (!Site.ran(one.guest, one.life, () -> {
      if (what < 2) {
        String line = "line " + number++ + "\n";
        one.out.write(line.getBytes(UTF_8));
        one.written.add(line);
      }
      if (what == 1) {
        one.out.hflush();
        lines.addAll(one.written);
        one.written.clear();
      } else if (what == 2) {
        closes(one);
      }
      return null;
    })) {
      gone(one);
    }
    one.busy = false;
  }

  private void closes(Appender one) throws IOException {
    appenders.remove(one);
    one.out.close();
    lines.addAll(one.written);
  }

  // Its locks go with its guest, or with a stream that failed.
  private void gone(Appender one) {
    appenders.remove(one);
    Site.release(one.out);
  }

  /** All streams are closed; the history is over. */
  void release() {
    appenders.forEach(each -> Site.release(each.out));
  }

  /** Streams of guests that are dead are closed by nobody: their locks are gone. */
  void forgetTheDead() {
    appenders.removeIf(each -> {
      boolean dead = each.guest.life() != each.life;
      if (dead) {
        Site.release(each.out);
      }
      return dead;
    });
  }

  // ---- Names.

  void renames(ModelGuest guest) throws Exception {
    String content = "file " + number++;
    String source = root + "/own" + number;
    String target = published(random.nextInt(NAMES));
    Site.ran(guest, guest.life(), () -> {
      FileSystem fs = site.files(guest);
      write(fs.create(guest.path(source), false), content);
      if (fs.rename(guest.path(source), guest.path(target))) {
        renamed.computeIfAbsent(target, name -> new ArrayList<>()).add(content);
      }
      return null;
    });
  }

  void replaces(ModelGuest guest) throws Exception {
    String content = "version " + number++;
    String name = root + "/replaced" + random.nextInt(NAMES);
    replaced.remove(name);
    int others = running.merge(name, 1, Integer::sum) - 1;
    int version = versions.merge(name, 1, Integer::sum);
    Site.ran(guest, guest.life(), () -> {
      write(site.files(guest).create(guest.path(name), true), content);
      // Of two at once either may have won: only one that was alone is looked for.
      if (others == 0 && versions.get(name) == version) {
        replaced.put(name, content);
      }
      return null;
    });
    running.merge(name, -1, Integer::sum);
  }

  private static void write(FSDataOutputStream out, String content) throws IOException {
    try (out) {
      out.write(content.getBytes(UTF_8));
    }
  }

  // ---- The end.

  void check() throws IOException {
    String log = lines.isEmpty() ? "" : read(log());
    for (String line : lines) {
      require(log.contains(line), log() + " lost '" + line.trim() + "' and has " + log);
    }
    for (Map.Entry<String, List<String>> name : renamed.entrySet()) {
      List<String> winners = name.getValue();
      require(winners.size() == 1, name.getKey() + " was given to each of " + winners);
      require(read(name.getKey()).equals(winners.get(0)),
          name.getKey() + " is not " + winners + " but " + read(name.getKey()));
    }
    for (Map.Entry<String, String> name : replaced.entrySet()) {
      require(read(name.getKey()).equals(name.getValue()),
          name.getKey() + " is not " + name.getValue() + " but " + read(name.getKey()));
    }
  }

  private String read(String name) throws IOException {
    Path file = site.mount.resolve(name.substring(1));
    return Files.exists(file) ? new String(Files.readAllBytes(file), UTF_8) : "(absent)";
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new Broken(Broken.Invariant.LOST_BYTES, otherwise);
    }
  }
}
