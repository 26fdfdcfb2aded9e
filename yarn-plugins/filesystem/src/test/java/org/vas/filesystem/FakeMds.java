package org.vas.filesystem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps layouts of files in a plain directory, as a metadata server with {@value #OSTS} OSTs:
 * what is set on a file made by mknod takes effect, and gets objects round robin.
 */
class FakeMds implements ClientCalls {
  static final int OSTS = 4;
  private static final int V3 = 0x0BD30BD0;
  private static final int COMPOSITE = 0x0BD60BD0;
  private static final int ON_MDT = 0x100;
  private static final int NO_START = 0xFFFF;
  private static final int ALL = 0xFFFF;

  private final Libc libc = new Libc();
  private final Map<Long, byte[]> layouts = new ConcurrentHashMap<>();
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicInteger gets = new AtomicInteger();

  /** Layouts read so far. */
  int gets() {
    return gets.get();
  }

  @Override
  public byte[] get(Path file, String name) throws ErrnoException {
    gets.incrementAndGet();
    byte[] layout = layouts.get(inode(file, name));
    if (layout == null) {
      throw new ErrnoException(file, "getxattr " + name, Errno.ENODATA);
    }
    return layout.clone();
  }

  @Override
  public void set(Path file, String name, byte[] value) throws ErrnoException {
    layouts.put(inode(file, name), allocate(ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN)));
  }

  @Override
  public void mknod(Path file, int mode) throws IOException {
    libc.mknod(file, mode);
    forget(file);
  }

  /** Takes away the layout of a file that is new: its inode number may have been another file's. */
  void forget(Path file) throws ErrnoException {
    layouts.remove(inode(file, "forget"));
  }

  /** As a Lustre client answers: its kernel looks at the names first, and llite takes no flag. */
  @Override
  public void renameNoReplace(Path from, Path to) throws ErrnoException {
    if (!Files.exists(from, LinkOption.NOFOLLOW_LINKS)) {
      throw new ErrnoException(to, "rename from " + from, Errno.ENOENT);
    }
    throw new ErrnoException(to, "rename from " + from,
        Files.exists(to, LinkOption.NOFOLLOW_LINKS) ? Errno.EEXIST : Errno.EINVAL);
  }

  /** Gives an existing file any layout, as other tools may have done. */
  void put(Path file, byte[] layout) throws ErrnoException {
    layouts.put(inode(file, "put"), layout.clone());
  }

  // Components that begin with the file are there at once; others have no objects before they are
  // written to.
  private byte[] composite(ByteBuffer request) {
    int count = request.getShort(14);
    int at = 32 + 48 * count;
    ByteBuffer layout = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
    layout.duplicate().put(request.duplicate().position(0).limit(at));
    layout.putInt(8, count);
    for (int i = 0; i < count; i++) {
      int entry = 32 + 48 * i;
      byte[] part = new byte[request.getInt(entry + 28)];
      request.duplicate().position(request.getInt(entry + 24)).get(part);
      ByteBuffer plain = ByteBuffer.wrap(part).order(ByteOrder.LITTLE_ENDIAN);
      boolean begun = request.getLong(entry + 8) == 0;
      if (begun && plain.getInt(4) != ON_MDT) {
        part = allocate(plain);
      }
      layout.putInt(entry, i + 1).putInt(entry + 4, begun ? 0x10 : 0);
      layout.putInt(entry + 24, at).putInt(entry + 28, part.length);
      layout.position(at).put(part);
      at += part.length;
    }
    layout.putInt(4, at);
    return Arrays.copyOf(layout.array(), at);
  }

  private byte[] allocate(ByteBuffer request) {
    if (request.getInt(0) == COMPOSITE) {
      return composite(request);
    }
    int header = request.getInt(0) == V3 ? 48 : 32;
    int wanted = Short.toUnsignedInt(request.getShort(28));
    int start = Short.toUnsignedInt(request.getShort(30));
    int count = wanted == ALL ? OSTS : Math.min(wanted, OSTS);
    int first = start == NO_START ? next.getAndIncrement() : start;
    ByteBuffer layout = ByteBuffer.allocate(header + 24 * count).order(ByteOrder.LITTLE_ENDIAN);
    layout.duplicate().put(request.duplicate().position(0).limit(header));
    layout.putShort(28, (short) count).putShort(30, (short) 0);
    for (int i = 0; i < count; i++) {
      layout.putLong(header + 24 * i, i + 1L);
      layout.putInt(header + 24 * i + 20, (first + i) % OSTS);
    }
    return layout.array();
  }

  private static long inode(Path file, String call) throws ErrnoException {
    try {
      if (!Files.exists(file)) {
        throw new ErrnoException(file, call, Errno.ENOENT);
      }
      return FileId.of(file).inode();
    } catch (ErrnoException e) {
      throw e;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
