package org.vas.shuffle.merge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.PrivilegedAction;
import org.apache.hadoop.security.UserGroupInformation;

/** Threads that end with the task, and act as the user who started them on any JDK. */
final class Daemons {
  private Daemons() {}

  static Thread start(String name, Runnable body) {
    UserGroupInformation user = currentUser();
    Thread thread = new Thread(() -> user.doAs((PrivilegedAction<Void>) () -> {
      body.run();
      return null;
    }), name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static UserGroupInformation currentUser() {
    try {
      return UserGroupInformation.getCurrentUser();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
