package org.vas.shuffle.map;

import java.io.Closeable;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.ShuffleDirs;

/**
 * The MOFs of one generation: runs are appended to a set until it is closed, and what a merge of
 * runs writes goes to a new one.
 */
final class MofSet implements Closeable {
  /** From so many units of alignment on, segments are aligned: the gaps stay below 4 %. */
  private static final long WORTH_ALIGNING = 16;

  private final AttemptFiles files;
  private final MofPolicy policy;
  private final MofTable table;
  private final int generation;
  private final Map<String, Integer> indexes = new LinkedHashMap<>();
  private MofOutput open;

  MofSet(AttemptFiles files, MofPolicy policy, MofTable table, int generation) {
    this.files = files;
    this.policy = policy;
    this.table = table;
    this.generation = generation;
  }

  /**
   * Returns the MOF of a partition, at the place where its next segment goes.
   *
   * @param expectedBytes about how many bytes that segment will have
   */
  MofOutput of(int partition, long expectedBytes) throws IOException {
    String name = name(partition);
    if (open != null && !policy.isPacked()) {
      close();
    }
    if (open == null) {
      open = open(name, expectedBytes);
    }
    if (policy.isPacked() && expectedBytes >= WORTH_ALIGNING * policy.alignment()) {
      open.alignTo(policy.alignment());
    }
    return open;
  }

  /** Closes what is open; the files may be read then, and still be appended to. */
  @Override
  public void close() throws IOException {
    if (open == null) {
      return;
    }
    MofOutput last = open;
    open = null;
    try (last) {
      if (policy.isSynced()) {
        last.sync();
      }
      table.set(last.index(), last.describe());
    }
  }

  /** Deletes the files of this generation, which must be closed. */
  void delete() throws IOException {
    for (Map.Entry<String, Integer> file : indexes.entrySet()) {
      files.delete(file.getKey());
      table.delete(file.getValue());
    }
    indexes.clear();
  }

  private MofOutput open(String name, long expectedBytes) throws IOException {
    Integer known = indexes.get(name);
    if (known != null) {
      return new MofOutput(name, known, files.append(name));
    }
    MofOutput created = new MofOutput(name, table.next(), files.create(name, expectedBytes));
    indexes.put(name, created.index());
    table.set(created.index(), created.describe());
    return created;
  }

  private String name(int partition) {
    String first = policy.isPacked() ? ShuffleDirs.PACKED : ShuffleDirs.perReducer(partition);
    return PredictableNames.ofGeneration(first, generation);
  }
}
