package org.vas.shuffle.planted;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The things that somebody may put in a file's place. */
enum Planted {
  LINK_TO_FILE, LINK_TO_DIRECTORY, DANGLING_LINK, HARD_LINK, FIFO, SOCKET, DIRECTORY, DEVICE;

  private static final int MODE = 0666;

  /** A function of the C library, named as in C. */
  interface Calls extends Library {
    int mknod(String path, int mode, long device);
  }

  /** Puts it there; the victim is a file. */
  void at(Path name, Path victim) throws IOException {
    switch (this) {
      case LINK_TO_FILE:
        Files.createSymbolicLink(name, victim);
        break;
      case LINK_TO_DIRECTORY:
        Files.createSymbolicLink(name, victim.getParent());
        break;
      case DANGLING_LINK:
        Files.createSymbolicLink(name, victim.resolveSibling("absent"));
        break;
      case HARD_LINK:
        Files.createLink(name, victim);
        break;
      case FIFO:
        node(name, 0010000, 0);
        break;
      case SOCKET:
        node(name, 0140000, 0);
        break;
      case DEVICE:
        node(name, 0020000, 0x103);  // as /dev/null
        break;
      default:
        Files.createDirectory(name);
    }
  }

  private static void node(Path name, int type, long device) throws IOException {
    if (Native.load(Calls.class).mknod(name.toString(), type | MODE, device) != 0) {
      throw new IOException(name + ": mknod: error " + Native.getLastError()
          + "; devices are made by root only");
    }
  }
}
