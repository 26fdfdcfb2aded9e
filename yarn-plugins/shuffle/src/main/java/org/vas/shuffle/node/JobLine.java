package org.vas.shuffle.node;

import java.io.IOException;
import java.util.regex.Pattern;
import org.apache.hadoop.util.StringUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;

/**
 * Makes and checks the line that tells {@code vas-shuffled} a job. It holds the job's secret: never
 * log one.
 */
final class JobLine {
  // The daemon takes the same names (names.rs): one component of a path, and one word of a line.
  private static final Pattern USER = Pattern.compile("[A-Za-z0-9_@$][A-Za-z0-9._@$-]{0,63}");
  private static final Pattern REST = Pattern.compile(USER.pattern() + " [0-9]{1,10} ([0-9a-f]{2}){1,256}");

  private JobLine() {}

  /**
   * Throws if a user's name cannot stand in a line: one with a blank or the end of a line in it
   * would be an order of its own.
   *
   * @throws IOException that shows the name without characters that a log cannot hold
   */
  static void checkUser(String user) throws IOException {
    if (!USER.matcher(user).matches()) {
      throw new IOException("the user's name '" + user.replaceAll("[^ -~]", "?")
          + "' has other characters than letters, digits and . _ - @ $, or too many");
    }
  }

  /**
   * Returns the line of a job.
   *
   * @throws IOException if the user's name cannot stand in it
   */
  static String of(ApplicationId application, String user, String uid, byte[] secret)
      throws IOException {
    checkUser(user);
    return start(application) + user + " " + uid + " " + StringUtils.byteToHexString(secret);
  }

  /** Returns whether a text is the line of this job, and nothing else. */
  static boolean isOf(ApplicationId application, String text) {
    String start = start(application);
    return text.startsWith(start) && REST.matcher(text.substring(start.length())).matches();
  }

  private static String start(ApplicationId application) {
    return "add " + application + " ";
  }
}
