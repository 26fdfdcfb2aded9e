package org.vas.conf;

import java.util.Collection;
import java.util.Optional;

/** Suggests the closest known word for a misspelled one. */
public final class Suggestion {
  private static final int TYPO_EDITS = 2;

  private Suggestion() {}

  /** Returns "did you mean WORD?" for a misspelled word, else a list of the known words. */
  public static String hint(Collection<String> known, String word) {
    return among(known, word).map(meant -> "did you mean " + meant + "?")
        .orElse("known keys: " + String.join(", ", known));
  }

  /** The closest word within two edits; the first of equally close ones. */
  private static Optional<String> among(Collection<String> known, String word) {
    String best = null;
    int edits = TYPO_EDITS + 1;
    for (String candidate : known) {
      int distance = distance(candidate, word);
      if (distance < edits) {
        best = candidate;
        edits = distance;
      }
    }
    return Optional.ofNullable(best);
  }

  // Levenshtein's distance, one row of the table at a time.
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
