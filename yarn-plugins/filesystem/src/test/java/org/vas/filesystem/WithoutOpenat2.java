package org.vas.filesystem;

import com.sun.jna.LastErrorException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Makes this machine's C library answer as on a kernel that has no openat2. */
final class WithoutOpenat2 {
  private WithoutOpenat2() {}

  static Libc.Calls calls() {
    return (Libc.Calls) Proxy.newProxyInstance(
        Libc.Calls.class.getClassLoader(), new Class<?>[] {Libc.Calls.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals("syscall")) {
            throw new LastErrorException(Errno.ENOSYS.number());
          }
          try {
            return method.invoke(Libc.calls(), arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }
}
