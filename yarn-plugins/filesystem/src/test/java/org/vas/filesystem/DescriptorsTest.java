package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DescriptorsTest {
  /** asm/fcntl.h of each architecture. */
  @ParameterizedTest
  @CsvSource({"amd64, 0400000", "x86_64, 0400000", "riscv64, 0400000", "s390x, 0400000",
      "aarch64, 0100000", "arm, 0100000", "ppc64le, 0100000", "ppc64, 0100000"})
  void D3_oNoFollowIsOfTheArchitecture(String architecture, String octal) {
    assertEquals(Integer.parseInt(octal, 8), Descriptors.noFollow(architecture));
  }
}
