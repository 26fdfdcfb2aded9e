package org.vas.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * The open file of a guest: bytes that it writes are in that guest's memory until they are forced.
 */
final class ModelChannel extends AsynchronousFileChannel {
  private final Path file;
  private final AsynchronousFileChannel open;
  private final ModelDisk.Inode inode;
  private final ModelGuest guest;
  private final ModelDisk disk;
  private final int life;

  ModelChannel(Path file, AsynchronousFileChannel open, ModelDisk.Inode inode, ModelGuest guest) {
    this.file = file;
    this.open = open;
    this.inode = inode;
    this.guest = guest;
    this.disk = guest.disk();
    this.life = guest.life();
  }

  private void check(String call) throws IOException {
    guest.call();
    guest.check(life);
    disk.checkThere(file, call, inode);
  }

  @Override
  public Future<Integer> read(ByteBuffer target, long position) {
    try {
      check("read");
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    return open.read(target, position);
  }

  @Override
  public Future<Integer> write(ByteBuffer source, long position) {
    try {
      check("write");
      inode.dirty(guest);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    return open.write(source, position);
  }

  @Override
  public void force(boolean metadata) throws IOException {
    check("fsync");
    inode.sync();
  }

  @Override
  public AsynchronousFileChannel truncate(long size) throws IOException {
    check("truncate");
    inode.dirty(guest);
    open.truncate(size);
    return this;
  }

  @Override
  public long size() throws IOException {
    return open.size();
  }

  @Override
  public boolean isOpen() {
    return open.isOpen();
  }

  @Override
  public void close() throws IOException {
    open.close();
  }

  @Override
  public <A> void read(ByteBuffer target, long position, A attachment,
      CompletionHandler<Integer, ? super A> handler) {
    throw new UnsupportedOperationException();
  }

  @Override
  public <A> void write(ByteBuffer source, long position, A attachment,
      CompletionHandler<Integer, ? super A> handler) {
    throw new UnsupportedOperationException();
  }

  @Override
  public <A> void lock(long position, long size, boolean shared, A attachment,
      CompletionHandler<FileLock, ? super A> handler) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Future<FileLock> lock(long position, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }
}
