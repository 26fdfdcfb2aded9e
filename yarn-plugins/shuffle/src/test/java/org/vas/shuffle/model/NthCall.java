package org.vas.shuffle.model;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.Path;
import org.vas.shuffle.SharedFileSystem;

/**
 * Does something at the n-th call of the file system, counted over all threads. No call of another
 * thread begins before it is over.
 */
final class NthCall implements SharedFileSystem.Fault {
  /** Calls without a path in what the kernel says. */
  private static final Set<String> NAMELESS = Set.of("read", "write", "hsync", "close");
  /** Of a thread, and of those it starts: they read for a map that runs elsewhere. */
  private static final ThreadLocal<Boolean> EXEMPT = new InheritableThreadLocal<>();

  private final int number;
  private final SharedFileSystem.Fault then;
  private final boolean forEver;
  private final String errno;
  private int calls;
  private boolean fired;
  private int poll;
  private Runnable atPoll = () -> {};

  private NthCall(int number, boolean forEver, String errno, SharedFileSystem.Fault then) {
    this.number = number;
    this.errno = errno;
    this.forEver = forEver;
    this.then = then;
  }

  /** Nothing at all. */
  static NthCall never() {
    return new NthCall(Integer.MAX_VALUE, false, "", (call, path) -> {});
  }

  /** The call fails, as the kernel would word it. */
  static NthCall fails(int number, String errno) {
    return new NthCall(number, false, errno, (call, path) -> {
      throw new IOException(NAMELESS.contains(call) ? errno : path + ": " + errno);
    });
  }

  /** From this call on no call does anything: its process is dead. */
  static NthCall kills(int number) {
    return new NthCall(number, true, "", (call, path) -> {
      throw new IOException("killed");
    });
  }

  /** Somebody else does something before the call. */
  static NthCall meets(int number, Runnable other) {
    return new NthCall(number, false, "", (call, path) -> other.run());
  }

  /** Somebody does something when a reduce asks for events for that time. */
  static NthCall atPoll(int poll, Runnable what) {
    NthCall call = never();
    call.poll = poll;
    call.atPoll = what;
    return call;
  }

  /** Has the reduce that starts meet what it is to meet at a poll. */
  void arm(Master master) {
    if (poll > 0) {
      master.atPoll(poll, () -> {
        synchronized (this) {
          fired = true;
        }
        atPoll.run();
      });
    }
  }

  /** Does what another process does: none of its calls is counted. */
  static <T> T elsewhere(Callable<T> work) throws Exception {
    Boolean before = EXEMPT.get();
    EXEMPT.set(true);
    try {
      return work.call();
    } finally {
      EXEMPT.set(before);
    }
  }

  /** Whether it can happen at all. */
  boolean isSet() {
    return number < Integer.MAX_VALUE;
  }

  synchronized boolean fired() {
    return fired;
  }

  /** Whether a call has failed, and with this text. */
  boolean saidOnce(String text) {
    return fired() && errno.equals(text);
  }

  @Override
  public void at(String call, Path path) throws IOException {
    if (EXEMPT.get() == null) {
      counted(call, path);
    }
  }

  private synchronized void counted(String call, Path path) throws IOException {
    calls++;
    if (calls == number || (forEver && calls > number)) {
      fired = true;
      then.at(call, path);
    }
  }
}
