package org.vas.workloads.data;

import java.util.SplittableRandom;

/** Makes lines of {@code FILE-NUMBER}, a tab, and words; a document repeats some of its phrases. */
final class Documents implements LineSource {
  private static final int LEAST_WORDS = 100;
  private static final int MOST_WORDS = 300;
  private static final int VOCABULARY = 100_000;
  private static final int WORDS_FOR_EACH_REPEAT = 16;
  private static final int LEAST_REPEATED = 3;
  private static final int MOST_REPEATED = 8;
  private static final String CONSONANTS = "bdfghklmnprstvz";
  private static final String VOWELS = "aeiou";

  @Override
  public String next(SplittableRandom random, int file, long number) {
    StringBuilder line = new StringBuilder().append(file).append('-').append(number);
    char separator = '\t';
    for (int word : words(random)) {
      append(line.append(separator), word);
      separator = ' ';
    }
    return line.toString();
  }

  private static int[] words(SplittableRandom random) {
    int[] words = new int[random.nextInt(LEAST_WORDS, MOST_WORDS + 1)];
    int repeated = 0;
    int left = 0;
    for (int i = 0; i < words.length; i++) {
      if (left == 0 && i > 0 && random.nextInt(WORDS_FOR_EACH_REPEAT) == 0) {
        repeated = random.nextInt(i);
        left = random.nextInt(LEAST_REPEATED, MOST_REPEATED + 1);
      }
      if (left > 0) {
        words[i] = words[repeated++];
        left--;
      } else {
        words[i] = (int) InputKind.skewed(random, VOCABULARY);
      }
    }
    return words;
  }

  /** The word of a number in syllables: frequent ones are short. */
  private static void append(StringBuilder line, int word) {
    int rest = word;
    do {
      int syllable = rest % (CONSONANTS.length() * VOWELS.length());
      line.append(CONSONANTS.charAt(syllable / VOWELS.length()));
      line.append(VOWELS.charAt(syllable % VOWELS.length()));
      rest = rest / (CONSONANTS.length() * VOWELS.length()) - 1;
    } while (rest >= 0);
  }
}
