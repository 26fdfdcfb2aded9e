package org.vas.layout;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The magic numbers and flags of {@code lustre_user.h}, with the names {@code lfs} prints. */
final class LayoutBits {
  static final int MAGIC_V1 = 0x0BD10BD0;
  static final int MAGIC_V3 = 0x0BD30BD0;
  static final int MAGIC_SPECIFIC = 0x0BD50BD0;
  static final int MAGIC_COMPOSITE = 0x0BD60BD0;
  static final int MAGIC_FOREIGN = 0x0BD70BD0;

  static final int PATTERN_RAID0 = 0x1;
  static final int PATTERN_MDT = 0x100;
  static final int PATTERN_OVERSTRIPING = 0x200;
  static final int PATTERN_RELEASED = 0x80000000;

  static final int FLAG_STALE = 0x1;
  static final int FLAG_PREFER_READ = 0x2;
  static final int FLAG_OFFLINE = 0x8;
  static final int FLAG_INIT = 0x10;

  private static final Map<Integer, String> PATTERNS = new TreeMap<>(Integer::compareUnsigned);
  private static final Map<Integer, String> FLAGS = new TreeMap<>(Integer::compareUnsigned);

  static {
    PATTERNS.put(PATTERN_RAID0, "raid0");
    PATTERNS.put(PATTERN_MDT, "mdt");
    PATTERNS.put(PATTERN_OVERSTRIPING, "overstriping");
    PATTERNS.put(PATTERN_RELEASED, "released");
    FLAGS.put(FLAG_STALE, "stale");
    FLAGS.put(FLAG_PREFER_READ, "prefrd");
    FLAGS.put(0x4, "prefwr");
    FLAGS.put(FLAG_OFFLINE, "offline");
    FLAGS.put(FLAG_INIT, "init");
    FLAGS.put(0x20, "nosync");
    FLAGS.put(0x40, "extension");
    FLAGS.put(0x80000000, "neg");
  }

  private LayoutBits() {}

  static List<String> patternNames(int pattern) {
    return names(pattern, PATTERNS);
  }

  static List<String> flagNames(int flags) {
    return names(flags, FLAGS);
  }

  private static List<String> names(int bits, Map<Integer, String> known) {
    List<String> names = new ArrayList<>();
    int rest = bits;
    for (Map.Entry<Integer, String> entry : known.entrySet()) {
      if ((bits & entry.getKey()) != 0) {
        names.add(entry.getValue());
        rest &= ~entry.getKey();
      }
    }
    if (rest != 0) {
      names.add("0x" + Integer.toHexString(rest));
    }
    return names;
  }
}
