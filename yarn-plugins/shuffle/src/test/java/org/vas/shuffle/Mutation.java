package org.vas.shuffle;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/** One change of some bytes; the place is taken modulo their number. */
public final class Mutation {
  /** Numbers as Hadoop writes them: large, larger than an int, negative; and as four bytes. */
  private static final byte[][] NUMBERS = {
      {-116, 127, -1, -1, -1}, {-120, 127, -1, -1, -1, -1, -1, -1, -1}, {-1}, {-128, 1, 2, 3},
      {127, -1, -1, -1}, {-1, -1, -1, -1}, {-128, 0, 0, 0}, {0, 0, 0, 0}, {63, -1, -1, -6}};
  private static final int KINDS = 5;

  private final int kind;
  private final int place;
  private final int value;

  private Mutation(int kind, int place, int value) {
    this.kind = kind;
    this.place = place;
    this.value = value;
  }

  /** One to four changes. */
  public static Arbitrary<List<Mutation>> some() {
    return Combinators.combine(Arbitraries.integers().between(0, KINDS - 1),
            Arbitraries.integers().between(0, 1 << 20), Arbitraries.integers().between(1, 255))
        .as(Mutation::new).list().ofMinSize(1).ofMaxSize(4);
  }

  /** The bytes after all of these; at least one byte is left. */
  public static byte[] apply(byte[] bytes, List<Mutation> all) {
    byte[] changed = bytes.clone();
    for (Mutation each : all) {
      changed = each.of(changed);
    }
    return changed.length == 0 ? new byte[1] : changed;
  }

  private byte[] of(byte[] bytes) {
    int at = bytes.length == 0 ? 0 : place % bytes.length;
    byte[] number = NUMBERS[value % NUMBERS.length];
    switch (kind) {
      case 0:
        return replaced(bytes, at, new byte[] {(byte) (byteAt(bytes, at) ^ value)}, 1);
      case 1:
        return replaced(bytes, at, number, number.length);
      case 2:
        return replaced(bytes, at, number, 1);
      case 3:
        return replaced(bytes, at, new byte[0], value);
      default:
        return replaced(bytes, at, Arrays.copyOfRange(bytes, at / 2, at / 2 + value), 0);
    }
  }

  private static byte byteAt(byte[] bytes, int at) {
    return bytes.length == 0 ? 0 : bytes[at];
  }

  private static byte[] replaced(byte[] bytes, int at, byte[] by, int length) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(bytes, 0, at);
    out.writeBytes(by);
    int rest = Math.min(bytes.length, at + length);
    out.write(bytes, rest, bytes.length - rest);
    return out.toByteArray();
  }

  @Override
  public String toString() {
    return kind + "@" + place + ":" + value;
  }
}
