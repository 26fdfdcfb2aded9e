package org.vas.site;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** Spells IPv6 addresses and NIDs in one way, to compare them, without asking a name server. */
final class IpText {
  // InetAddress asks a name server for anything else.
  private static final Pattern V6 = Pattern.compile("(?=.*:)[0-9A-Fa-f:][0-9A-Fa-f:.]*");
  private static final Pattern REST = Pattern.compile("[%@].*");

  private IpText() {}

  /**
   * Returns {@code ADDRESS} or {@code ADDRESS@NETWORK} with the address in one spelling; the text
   * as it is when it has no IPv6 address.
   */
  static String oneSpelling(String text) {
    String address = REST.matcher(text).replaceFirst("");
    if (!V6.matcher(address).matches()) {
      return text;
    }
    try {
      return InetAddress.getByName(address).getHostAddress() + text.substring(address.length());
    } catch (UnknownHostException e) {
      return text;
    }
  }
}
