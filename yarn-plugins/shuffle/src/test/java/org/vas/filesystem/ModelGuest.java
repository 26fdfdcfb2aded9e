package org.vas.filesystem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * A guest of a simulated site: a Lustre client with a memory of its own. It can die at any of its
 * calls, and somebody else can do something before any of them.
 */
public final class ModelGuest implements ClientCalls {
  /** The ways in which a guest asks for a name that nothing has. */
  public enum Rename {
    /** As Lustre answers: no flag of renameat2 is known. */
    REFUSES_FLAGS,
    /** As the product did it once: looks, then renames over whatever came meanwhile. */
    LOOKS_FIRST
  }

  private final Libc libc = new Libc();
  private final String name;
  private final Rename rename;
  private ModelDisk disk;
  private Runnable hook;
  private int callsLeft;
  private int life;
  private int acting;

  /** @param name of the guest, one in the process: the authority of its file system */
  public ModelGuest(String name, Rename rename) {
    this.name = name;
    this.rename = rename;
    ModelFileSystem.register(name, this);
  }

  /** Thrown to the work of a guest when the guest dies: no code of it runs any more. */
  public static final class Died extends Error {
    private static final long serialVersionUID = 1L;

    Died(String name) {
      super(name + " is dead", null, false, false);
    }
  }

  /** Uses the mount of another history. */
  public void mount(ModelDisk another) {
    disk = another;
    hook = null;
    life++;
  }

  ModelDisk disk() {
    return disk;
  }

  /** Which of its lives the guest is in; what began in an earlier one is dead. */
  public int life() {
    return life;
  }

  /** A path as this guest's tasks name it. */
  public org.apache.hadoop.fs.Path path(String path) {
    return new org.apache.hadoop.fs.Path("lustre", name, path);
  }

  /** This guest's file system. */
  public FileSystem files(Configuration conf) throws IOException {
    return path("/").getFileSystem(conf);
  }

  /** Somebody does something before the n-th call from now; replaces what was planned. */
  public void at(int call, Runnable somebody) {
    callsLeft = call;
    hook = somebody;
  }

  /** Nothing is planned any more. */
  public void undisturbed() {
    hook = null;
  }

  /** Its power is cut: unsynced bytes are lost. It boots at once. */
  public void dies() {
    life++;
    hook = null;
    try {
      disk.lose(this);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All its bytes are brought to the OSTs, as evacuation does it before it cuts the power. */
  public void syncs() {
    try {
      disk.sync(this);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Does something on this guest that began in that life of it.
   *
   * @throws Died if the guest died since, or dies during the work
   */
  public <T> T run(int begun, Callable<T> work) throws Exception {
    int outer = acting;
    acting = begun;
    try {
      check(begun);
      return work.call();
    } finally {
      acting = outer;
    }
  }

  void check(int begun) {
    if (begun != life) {
      throw new Died(name);
    }
  }

  /** Counts a call of what runs; ends it if the guest died meanwhile. */
  void call() {
    int begun = acting;
    if (hook != null && --callsLeft <= 0) {
      Runnable now = hook;
      hook = null;
      now.run();
    }
    check(begun);
  }

  @Override
  public byte[] get(Path file, String attribute) throws ErrnoException {
    try {
      ModelDisk.Inode inode = disk.inode(file);
      if (inode != null) {
        return ModelDisk.layout(inode);
      }
    } catch (IOException gone) {
      throw new ErrnoException(file, "getxattr", Errno.ENOENT);
    }
    throw new ErrnoException(file, "getxattr", Errno.ENODATA);
  }

  @Override
  public void set(Path file, String attribute, byte[] value) throws ErrnoException {
    throw new ErrnoException(file, "setxattr", Errno.EOPNOTSUPP);
  }

  @Override
  public void mknod(Path file, int mode) throws IOException {
    libc.mknod(file, mode);
    disk.made(file);
  }

  @Override
  public void renameNoReplace(Path from, Path to) throws ErrnoException {
    boolean taken = Files.exists(to, LinkOption.NOFOLLOW_LINKS);
    if (!Files.exists(from, LinkOption.NOFOLLOW_LINKS)) {
      throw new ErrnoException(to, "rename from " + from, Errno.ENOENT);
    }
    call();
    if (taken || rename == Rename.REFUSES_FLAGS) {
      throw new ErrnoException(to, "rename from " + from, taken ? Errno.EEXIST : Errno.EINVAL);
    }
    overwrite(from, to);
  }

  private static void overwrite(Path from, Path to) throws ErrnoException {
    try {
      Files.move(from, to, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new ErrnoException(to, "rename from " + from, Errno.ENOTEMPTY);
    }
  }

  @Override
  public void link(Path from, Path to) throws ErrnoException {
    new Libc().link(from, to);
    call();  // dies with both names
  }

  @Override
  public AsynchronousFileChannel bytes(Path file, AsynchronousFileChannel open)
      throws IOException {
    ModelDisk.Inode inode = disk.inode(file);
    return inode == null ? open : new ModelChannel(file, open, inode, this);
  }
}
