package org.vas.shuffle.node;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Finds the numbers (uids) by which file systems and sockets know users. The JDK has no call for
 * them, so the program {@code id} is asked, for a bounded time: the site's directory of users may
 * not answer. Used by one thread.
 */
final class TaskUids {
  private final List<String> program;
  private final Duration patience;
  private final Map<String, String> known = new HashMap<>();

  TaskUids() {
    this(List.of("id", "-u", "--"), Duration.ofSeconds(10));
  }

  /**
   * Makes a lookup by a program.
   *
   * @param program the program and its arguments before the user's name
   * @param patience how long it may take
   */
  TaskUids(List<String> program, Duration patience) {
    this.program = List.copyOf(program);
    this.patience = requireNonNull(patience, "patience");
  }

  /**
   * Returns a user's number.
   *
   * @param user empty for the user of this process
   * @throws IOException if nobody knows it, or nobody says in time
   */
  String of(Optional<String> user) throws IOException, InterruptedException {
    if (user.isEmpty()) {
      return String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    }
    String uid = known.get(user.get());
    if (uid == null) {
      uid = ask(user.get());
      known.put(user.get(), uid);
    }
    return uid;
  }

  private String ask(String user) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(program);
    words.add(user);
    Process id = new ProcessBuilder(words).redirectErrorStream(true).start();
    try {
      id.getOutputStream().close();
      if (!id.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException("the number of user " + user + " is not known: `id` does not answer for "
            + patience.toMillis() + " ms; does this node's directory of users answer (sssd, LDAP)?");
      }
      String answer = new String(id.getInputStream().readNBytes(200), StandardCharsets.UTF_8).strip();
      if (!answer.matches("[0-9]{1,10}")) {
        throw new IOException("the number of user " + user + " is not known: "
            + answer.replaceAll("[^ -~]", "?"));
      }
      return answer;
    } finally {
      id.destroyForcibly();
    }
  }
}
