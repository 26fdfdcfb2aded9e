package org.vas.shuffle.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Removes the directories that histories leave. */
public final class ModelTrees {
  private ModelTrees() {}

  /** Removes a tree, if it is there; of a link, the link. */
  public static void remove(Path tree) throws IOException {
    if (Files.exists(tree, LinkOption.NOFOLLOW_LINKS)) {
      Damage.removeAll(tree);
    }
  }
}
