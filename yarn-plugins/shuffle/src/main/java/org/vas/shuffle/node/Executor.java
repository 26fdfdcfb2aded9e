package org.vas.shuffle.node;

import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Tells whether tasks of different users are different users to the file system, and provably so.
 */
final class Executor {
  private static final String KEY = YarnConfiguration.NM_CONTAINER_EXECUTOR;
  private static final String LINUX =
      "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor";
  private static final String LIMIT = YarnConfiguration.NM_NONSECURE_MODE_LIMIT_USERS;

  private static final String FIX = "set up Kerberos (hadoop.security.authentication); ";

  private Executor() {}

  /**
   * Returns why tasks of several users may run as one user, in one line with key and fix; null
   * where only a user's own tasks run as that user.
   */
  static String whyTasksShareAUser(Configuration conf) {
    String executor = conf.getTrimmed(KEY, "");
    if (!isLinux(conf, executor)) {
      return KEY + " is " + (executor.isEmpty() ? "not set" : executor) + ": all tasks of this node"
          + " run as one user, so any job can read and change any other's map output; set it to "
          + LINUX;
    }
    if (UserGroupInformation.isSecurityEnabled()) {
      return null;
    }
    return conf.getBoolean(LIMIT, YarnConfiguration.DEFAULT_NM_NONSECURE_MODE_LIMIT_USERS)
        ? LIMIT + " is true, and Kerberos is off: all tasks of this node run as one user, so any"
            + " job can read and change any other's map output; " + FIX + LIMIT + " false alone"
            + " would let whoever reaches the ResourceManager run tasks as any user"
        : LIMIT + " is false, and Kerberos is off: whoever reaches the ResourceManager runs tasks"
            + " as any user, and reads and changes all that is that user's; " + FIX
            + "without it this is right only where every user is trusted with all of them";
  }

  /**
   * Returns the user that an application's tasks run as, and so the owner of its files.
   *
   * @param user of the application
   * @return empty where tasks run as the NodeManager's own user
   */
  static Optional<String> taskUser(Configuration conf, String user) {
    if (!isLinux(conf, conf.getTrimmed(KEY, ""))) {
      return Optional.empty();
    }
    boolean all = !UserGroupInformation.isSecurityEnabled()
        && conf.getBoolean(LIMIT, YarnConfiguration.DEFAULT_NM_NONSECURE_MODE_LIMIT_USERS);
    return Optional.of(all ? conf.getTrimmed(YarnConfiguration.NM_NONSECURE_MODE_LOCAL_USER_KEY,
        YarnConfiguration.DEFAULT_NM_NONSECURE_MODE_LOCAL_USER) : user);
  }

  // A class derived from it does what it does.
  private static boolean isLinux(Configuration conf, String executor) {
    for (Class<?> each = executor.isEmpty() ? null : conf.getClassByNameOrNull(executor);
        each != null; each = each.getSuperclass()) {
      if (each.getName().equals(LINUX)) {
        return true;
      }
    }
    return executor.equals(LINUX);
  }
}
