package org.vas.filesystem;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;

/** This machine's C library on a kernel that has no openat2. */
final class WithoutOpenat2 implements Descriptors.Calls {
  private final Descriptors.Calls calls = Native.load(Descriptors.Calls.class);

  @Override
  public int open(byte[] path, int flags) {
    return calls.open(path, flags);
  }

  @Override
  public int openat(int directory, byte[] path, int flags) {
    return calls.openat(directory, path, flags);
  }

  @Override
  public long syscall(long number, long directory, byte[] path, long[] how, long size) {
    throw new LastErrorException(Errno.ENOSYS.number());
  }

  @Override
  public long readlinkat(int directory, byte[] path, byte[] target, long size) {
    return calls.readlinkat(directory, path, target, size);
  }

  @Override
  public int close(int descriptor) {
    return calls.close(descriptor);
  }

  @Override
  public int geteuid() {
    return calls.geteuid();
  }
}
