package org.vas.layout;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Tells whether a text is an IP address, and which one, without asking a name server. */
final class IpText {
  private static final Pattern V4 =
      Pattern.compile("((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(\\.(?!$)|$)){4}");
  private static final Pattern GROUP = Pattern.compile("[0-9A-Fa-f]{1,4}");
  private static final Pattern SCOPE = Pattern.compile("%[^%]+$");
  private static final int GROUPS = 8;

  private IpText() {}

  static boolean isAddress(String text) {
    return text.indexOf(':') < 0 ? V4.matcher(text).matches() : isV6(text);
  }

  /** {@code ADDRESS} or {@code ADDRESS@NETWORK}, the same for every spelling of the address. */
  static String oneSpelling(String text) {
    int end = text.indexOf('@') < 0 ? text.length() : text.indexOf('@');
    String address = text.substring(0, end);
    if (!isAddress(address)) {
      return text;
    }
    int scope = address.indexOf('%') < 0 ? end : address.indexOf('%');
    try {
      return InetAddress.getByName(text.substring(0, scope)).getHostAddress()
          + text.substring(scope);
    } catch (UnknownHostException e) {
      return text;
    }
  }

  private static boolean isV6(String text) {
    String groups = SCOPE.matcher(text).replaceFirst("");
    int gap = groups.indexOf("::");
    if (gap < 0) {
      return count(groups) == GROUPS;
    }
    int before = count(groups.substring(0, gap));
    int after = count(groups.substring(gap + 2));
    return before >= 0 && after >= 0 && before + after < GROUPS
        && groups.substring(0, gap).indexOf('.') < 0;
  }

  // The 16-bit groups in a part without a gap; -1 when it is malformed.
  private static int count(String part) {
    if (part.isEmpty()) {
      return 0;
    }
    List<String> groups = Arrays.asList(part.split(":", -1));
    String last = groups.get(groups.size() - 1);
    boolean endsInV4 = V4.matcher(last).matches();
    boolean wellFormed = groups.subList(0, groups.size() - 1).stream().allMatch(IpText::isGroup)
        && (endsInV4 || isGroup(last));
    return wellFormed ? groups.size() + (endsInV4 ? 1 : 0) : -1;
  }

  private static boolean isGroup(String text) {
    return GROUP.matcher(text).matches();
  }
}
