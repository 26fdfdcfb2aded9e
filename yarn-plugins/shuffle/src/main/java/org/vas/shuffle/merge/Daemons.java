package org.vas.shuffle.merge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.PrivilegedAction;
import java.util.function.Consumer;
import org.apache.hadoop.security.UserGroupInformation;

/** Starts threads that end with the task, and act as the user who started them on any JDK. */
public final class Daemons {
  private Daemons() {}

  /**
   * Starts a daemon thread that acts as the current user.
   *
   * @param failed takes whatever the body throws
   */
  public static Thread start(String name, Runnable body, Consumer<Throwable> failed) {
    UserGroupInformation user = currentUser();
    Thread thread = new Thread(() -> run(user, body, failed), name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void run(UserGroupInformation user, Runnable body, Consumer<Throwable> failed) {
    try {
      user.doAs((PrivilegedAction<Void>) () -> {
        body.run();
        return null;
      });
    } catch (Throwable e) { // somebody waits for this thread
      failed.accept(e);
    }
  }

  private static UserGroupInformation currentUser() {
    try {
      return UserGroupInformation.getCurrentUser();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
