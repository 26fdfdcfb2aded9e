package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Thrown when something that VAS did not make has a name of VAS; it is neither opened nor removed.
 */
public final class PlantedException extends IOException {
  private static final long serialVersionUID = 1L;

  PlantedException(Path file, String what) {
    super(file + ": " + what + ": not opened; find out who put it there, and remove it");
  }
}
