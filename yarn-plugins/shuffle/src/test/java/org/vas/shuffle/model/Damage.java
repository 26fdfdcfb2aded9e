package org.vas.shuffle.model;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Damages the map output that an attempt left. */
final class Damage {
  /** The kind that puts another attempt's file in place of one. */
  static final int SWAP = 5;

  private static final int KINDS = 7;

  private Damage() {}

  /** Changes one file, or removes all; does nothing where nothing is. */
  static void inflict(Path attempt, Path other, int kind, int number) throws IOException {
    List<Path> files = files(attempt);
    if (files.isEmpty()) {
      return;
    }
    Path file = files.get(Math.floorMod(number, files.size()));
    byte[] bytes = Files.readAllBytes(file);
    int at = Math.floorMod(number * 31, Math.max(1, bytes.length));
    switch (kindOf(kind)) {
      case 0:
        flip(file, bytes, at);
        break;
      case 1:
        Files.write(file, Arrays.copyOf(bytes, at));
        break;
      case 2:
        Files.delete(file);
        break;
      case 3:
        Files.write(file, Arrays.copyOf(bytes, bytes.length + 1 + at % 10));
        break;
      case 4:
        Files.write(file, new byte[bytes.length]);
        break;
      case SWAP:
        swap(file, other.resolve(file.getFileName()));
        break;
      default:
        removeAll(attempt);
    }
  }

  static int kindOf(int kind) {
    return Math.floorMod(kind, KINDS);
  }

  private static void flip(Path file, byte[] bytes, int at) throws IOException {
    if (bytes.length > 0) {
      bytes[at] = (byte) (bytes[at] ^ 1 << at % 8);
      Files.write(file, bytes);
    }
  }

  private static void swap(Path file, Path other) throws IOException {
    if (Files.exists(other)) {
      Files.copy(other, file, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static List<Path> files(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    List<Path> files = new ArrayList<>();
    try (Stream<Path> found = Files.list(directory)) {
      found.sorted().forEach(files::add);
    }
    return files;
  }

  /** Removes a tree, if it is there, and what a call that had begun brought into it meanwhile. */
  static void removeAll(Path tree) throws IOException {
    while (Files.exists(tree)) {
      try (Stream<Path> found = Files.walk(tree)) {
        for (Path each : (Iterable<Path>) found.sorted(Comparator.reverseOrder())::iterator) {
          Files.delete(each);
        }
      } catch (DirectoryNotEmptyException e) {
        // Once more.
      }
    }
  }
}
