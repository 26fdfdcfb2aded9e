package org.vas.filesystem;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Tells file names that are text from those that are not. A {@link Path} of a listing keeps a
 * name's bytes; as a string, which is all that Hadoop has, a name that is not text in this JVM's
 * encoding becomes another name.
 */
final class RawNames {
  /** The character in a string for bytes that are not text. */
  private static final char REPLACEMENT = '\uFFFD';
  private static final Charset NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private RawNames() {}

  /** Returns whether a string may stand for a name that is not text. */
  static boolean mayStandForAnother(String name) {
    return name.indexOf(REPLACEMENT) >= 0;
  }

  /** Returns whether the name, read as a string, leads to the same file. */
  static boolean isText(Path name) {
    try {
      return Path.of(name.toString()).equals(name);
    } catch (InvalidPathException e) {
      return false;
    }
  }

  /** Returns the bytes of a name or a path, as the kernel has them. */
  static byte[] bytes(Path name) {
    if (isText(name)) {
      return name.toString().getBytes(NAMES);
    }
    // The URI of a path has its bytes, each as it is or as %XX; one of a directory ends in '/'.
    String path = Path.of("/").resolve(name).toUri().getRawPath();
    int end = path.length() > 1 && path.endsWith("/") ? path.length() - 1 : path.length();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = name.isAbsolute() ? 0 : 1; i < end; i++) {
      char next = path.charAt(i);
      bytes.write(next == '%' ? Integer.parseInt(path.substring(i + 1, i + 3), 16) : next);
      i += next == '%' ? 2 : 0;
    }
    return bytes.toByteArray();
  }

  /**
   * Returns the name for messages and for a shell's {@code $'...'}: bytes that are not ASCII text
   * as \xHH.
   */
  static String escaped(Path name) {
    StringBuilder text = new StringBuilder();
    for (byte each : bytes(name)) {
      boolean plain = each >= ' ' && each < 0x7f && each != '\\' && each != '\'';
      text.append(plain ? String.valueOf((char) each) : String.format("\\x%02x", each & 0xff));
    }
    return text.toString();
  }

  /** Returns the fix besides renaming, for a message; empty where there is none. */
  static String orElse() {
    return NAMES.equals(StandardCharsets.UTF_8) ? "" : ", or run Java with LC_ALL=C.UTF-8";
  }
}
