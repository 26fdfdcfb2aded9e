package org.vas.layout;

import static java.util.Map.entry;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The numbers of {@code lustre_user.h}, and the names {@code lfs} prints for their bits. */
final class LayoutBits {
  static final int MAGIC_V1 = 0x0BD10BD0;
  static final int MAGIC_V3 = 0x0BD30BD0;
  static final int MAGIC_SPECIFIC = 0x0BD50BD0;
  static final int MAGIC_COMPOSITE = 0x0BD60BD0;
  static final int MAGIC_FOREIGN = 0x0BD70BD0;
  // Stored for a composite with an extensible component (SEL), so that clients that do not know
  // these refuse the file; otherwise the same.
  static final int MAGIC_COMPOSITE_SEL = 0x0BD80BD0;

  static final int PATTERN_RAID0 = 0x1;
  static final int PATTERN_MDT = 0x100;
  static final int PATTERN_OVERSTRIPING = 0x200;
  static final int PATTERN_RELEASED = 0x80000000;

  static final int FLAG_STALE = 0x1;
  static final int FLAG_PREFER_READ = 0x2;
  static final int FLAG_OFFLINE = 0x8;
  static final int FLAG_INIT = 0x10;
  static final int FLAG_EXTENSION = 0x40;
  static final int FLAG_PARITY = 0x80;

  static final int MAX_STRIPES = 2000;
  static final int MAX_XATTR_BYTES = 65536;

  private static final List<Map.Entry<Integer, String>> PATTERNS = List.of(
      entry(PATTERN_RAID0, "raid0"),
      entry(PATTERN_MDT, "mdt"),
      entry(PATTERN_OVERSTRIPING, "overstriping"),
      entry(PATTERN_RELEASED, "released"));

  // In the order lfs prints them.
  private static final List<Map.Entry<Integer, String>> FLAGS = List.of(
      entry(FLAG_INIT, "init"),
      entry(FLAG_STALE, "stale"),
      entry(FLAG_PREFER_READ, "prefrd"),
      entry(0x4, "prefwr"),
      entry(FLAG_OFFLINE, "offline"),
      entry(0x20, "nosync"),
      entry(FLAG_EXTENSION, "extension"));

  private LayoutBits() {}

  static List<String> patternNames(int pattern) {
    return names(pattern, PATTERNS);
  }

  static List<String> flagNames(int flags) {
    return names(flags, FLAGS);
  }

  private static List<String> names(int bits, List<Map.Entry<Integer, String>> known) {
    List<String> names = new ArrayList<>();
    int rest = bits;
    for (Map.Entry<Integer, String> bit : known) {
      if ((bits & bit.getKey()) != 0) {
        names.add(bit.getValue());
        rest &= ~bit.getKey();
      }
    }
    if (rest != 0) {
      names.add("0x" + Integer.toHexString(rest));
    }
    return List.copyOf(names);
  }
}
