package org.vas.filesystem;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * The OSTs of a simulated site. Each file has one object; the bytes that its writer has not synced
 * are in that guest's memory: others read them, and they are lost when the guest is.
 */
public final class ModelDisk implements Closeable {
  /** How many OSTs there are. */
  public static final int OSTS = 4;
  private static final int V1 = 0x0BD10BD0;

  // In the order in which they were made, so that a seed means one history.
  private final Map<Long, Inode> inodes = new LinkedHashMap<>();
  private final Set<Integer> away = new HashSet<>();
  private final Random random;

  /** @param random places objects, and decides which unsynced bytes had been written back */
  public ModelDisk(Random random) {
    this.random = random;
  }

  /** A file: its bytes as all clients see them, and as they are on the OST's disk. */
  static final class Inode implements Closeable {
    private final FileChannel content;
    private final int ost;
    private byte[] onDisk = {};
    private ModelGuest writer;

    Inode(Path file, int ost) throws IOException {
      // It stays open, so that its number is not another file's within a history.
      this.content =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
      this.ost = ost;
    }

    int ost() {
      return ost;
    }

    /** Bytes of it are in that guest's memory from now on; another's go to the disk before. */
    void dirty(ModelGuest guest) throws IOException {
      if (writer != null && writer != guest) {
        sync();
      }
      writer = guest;
    }

    void sync() throws IOException {
      onDisk = read();
      writer = null;
    }

    private byte[] read() throws IOException {
      ByteBuffer bytes = ByteBuffer.allocate((int) content.size());
      int count = 0;
      while (bytes.hasRemaining() && count >= 0) {
        count = content.read(bytes, bytes.position());
      }
      return bytes.array();
    }

    // Pages are written back in any order: a part of the rest may be there, or zeros before it.
    private void lose(Random random) throws IOException {
      byte[] all = read();
      writer = null;
      int lost = all.length - onDisk.length;
      byte[] left = onDisk;
      if (lost > 0 && random.nextBoolean()) {
        left = Arrays.copyOf(Arrays.copyOf(all, onDisk.length + random.nextInt(lost)),
            random.nextBoolean() ? all.length : onDisk.length);
      }
      content.truncate(0);
      content.write(ByteBuffer.wrap(left), 0);
      onDisk = left;
    }

    @Override
    public void close() throws IOException {
      content.close();
    }
  }

  void made(Path file) throws IOException {
    int ost = random.nextInt(OSTS);
    while (away.contains(ost)) {
      ost = random.nextInt(OSTS);
    }
    inodes.put(FileId.of(file).inode(), new Inode(file, ost));
  }

  /** The file that a path leads to; null if no guest made it. */
  Inode inode(Path file) throws IOException {
    return inodes.get(FileId.of(file).inode());
  }

  /** A layout of one stripe, as getxattr tells it. */
  static byte[] layout(Inode inode) {
    ByteBuffer bytes = ByteBuffer.allocate(32 + 24).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(0, V1).putInt(4, 1).putInt(24, 1 << 20).putShort(28, (short) 1);
    bytes.putLong(32, 1).putInt(32 + 20, inode.ost());
    return bytes.array();
  }

  void checkThere(Path file, String call, Inode inode) throws ErrnoException {
    if (away.contains(inode.ost())) {
      throw new ErrnoException(file, call, Errno.ESHUTDOWN);
    }
  }

  /** An OST goes away, with its objects; of all, one stays. */
  public void goesAway(int ost) {
    if (away.size() < OSTS - 1) {
      away.add(ost);
    }
  }

  /** All OSTs are there again. */
  public void allAreBack() {
    away.clear();
  }

  /** All that the guest has in its memory is on disk now, where the OST is there. */
  void sync(ModelGuest guest) throws IOException {
    for (Inode inode : inodes.values()) {
      if (inode.writer == guest && !away.contains(inode.ost())) {
        inode.sync();
      }
    }
  }

  /** The guest's memory is gone. */
  void lose(ModelGuest guest) throws IOException {
    for (Inode inode : inodes.values()) {
      if (inode.writer == guest) {
        inode.lose(random);
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (Inode inode : inodes.values()) {
      inode.close();
    }
    inodes.clear();
  }
}
