package org.vas.layout;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.vas.testing.Repository;

class LayoutRequestTest {
  @Test
  void aFileWithThePlacesAskedForMeetsTheRequest() {
    LayoutRequest request = LayoutRequest.stripes(1 << 20, 2).osts(3, 1);
    assertTrue(request.isMetBy(Layouts.plain(1 << 20, 3, 1)));
    assertFalse(request.isMetBy(Layouts.plain(1 << 20, 1, 3)));
    assertFalse(request.isMetBy(Layouts.plain(1 << 21, 3, 1)));
  }

  @Test
  void fewerStripesThanAskedForDoNotMeetIt() {
    assertFalse(LayoutRequest.stripes(1 << 20, 3).isMetBy(Layouts.plain(1 << 20, 3, 1)));
    assertTrue(LayoutRequest.stripes(1 << 20, PlainLayout.ALL_OSTS)
        .isMetBy(Layouts.plain(1 << 20, 3, 1)));
  }

  @Test
  void aCompositeDoesNotMeetIt() {
    assertFalse(LayoutRequest.stripes(1 << 20, 1).isMetBy(
        Layouts.composite(Layouts.component(0, 0x10, 0, -1, Layouts.plain(1 << 20, 1)))));
  }

  /** The default that {@code lfs setstripe -E 64K -L mdt -E -1} left on a directory. */
  @Test
  void dataOnMdtIsWhatLfsSets() throws Exception {
    byte[] captured = Files.readAllBytes(Repository.path("lustre-layout/vectors/dir-dom.bin"));
    for (int component : new int[] {128, 160}) {
      Arrays.fill(captured, component + 8, component + 24, (byte) 0); // no object ids there
    }
    assertArrayEquals(captured, LayoutRequest.stripes(0, 0).onMdt(64 << 10).encode());
  }

  @Test
  void aFileThatLustreMadeSoMeetsDataOnMdt() throws Exception {
    StripeLayout made =
        StripeLayout.decode(Files.readAllBytes(Repository.path("lustre-layout/vectors/dom1.bin")));
    LayoutRequest request = LayoutRequest.stripes(1 << 20, 4).onMdt(1 << 20);
    assertTrue(request.isMetBy(made));
    assertTrue(request.startingAt(2).onMdt(1 << 20).isMetBy(made), "nowhere yet");
    assertFalse(LayoutRequest.stripes(1 << 20, 4).isMetBy(made));
    assertFalse(LayoutRequest.stripes(1 << 20, 4).onMdt(64 << 10).isMetBy(made));
    assertFalse(LayoutRequest.stripes(1 << 20, 2).onMdt(1 << 20).isMetBy(made));
    assertFalse(request.isMetBy(Layouts.plain(1 << 20, 4)));
  }

  /** The default that {@code lfs setstripe -E 1M -c1 -E -1 -c4} left on a directory. */
  @Test
  void R4_oneObjectThenSeveralIsWhatLfsSets() throws Exception {
    byte[] captured = Files.readAllBytes(Repository.path("lustre-layout/vectors/dir-pfl.bin"));
    for (int component : new int[] {128, 160}) {
      Arrays.fill(captured, component + 8, component + 24, (byte) 0); // no object ids there
    }
    assertArrayEquals(captured, LayoutRequest.stripes(0, 4).onOne(1 << 20).encode());
  }

  @Test
  void R4_aFileThatLustreMadeSoMeetsIt() throws Exception {
    for (String name : new String[] {"pfl", "pfl-written"}) {
      StripeLayout made = StripeLayout.decode(
          Files.readAllBytes(Repository.path("lustre-layout/vectors/" + name + ".bin")));
      LayoutRequest request = LayoutRequest.stripes(0, 4).onOne(1 << 20);
      assertTrue(request.isMetBy(made), name);
      assertTrue(LayoutRequest.stripes(0, -1).onOne(1 << 20).isMetBy(made), name);
      assertTrue(request.startingAt(2).isMetBy(made), name);
      assertFalse(request.startingAt(3).isMetBy(made), name);
      assertFalse(LayoutRequest.stripes(0, 4).onOne(2 << 20).isMetBy(made), name);
      assertFalse(LayoutRequest.stripes(0, 2).onOne(1 << 20).isMetBy(made), name);
      assertFalse(LayoutRequest.stripes(0, 4).isMetBy(made), name);
      assertFalse(request.isMetBy(Layouts.plain(1 << 20, 2)), name);
    }
  }

  @Test
  void R4_dataOnMdtComesBeforeTheOneObject() throws Exception {
    LayoutRequest request = LayoutRequest.stripes(1 << 20, -1).onOne(1 << 20).onMdt(64 << 10);
    CompositeLayout asked = (CompositeLayout) StripeLayout.decode(request.encode());
    assertEquals(3, asked.components().size());
    assertEquals(64 << 10, asked.components().get(0).end());
    assertEquals(1 << 20, asked.components().get(1).end());
    assertEquals(2, ((CompositeLayout) StripeLayout.decode(LayoutRequest.stripes(1 << 20, -1)
        .onOne(1 << 20).onMdt(1 << 20).encode())).components().size());
  }

  @Test
  void theListOfOstsSetsTheCount() {
    assertEquals(3, LayoutRequest.stripes(1 << 20, 1).osts(4, 5, 6).stripeCount());
  }

  @Test
  void whatLustreWouldRefuseOrChangeIsRefusedHere() {
    LayoutRequest good = LayoutRequest.stripes(1 << 16, 1);
    refuses("stripe size 65537 is not a multiple of 64 KiB below 4 GiB",
        () -> LayoutRequest.stripes(65537, 1));
    refuses("stripe size 4294967296 is not a multiple of 64 KiB below 4 GiB",
        () -> LayoutRequest.stripes(1L << 32, 1));
    refuses("stripe count 2001 is not between -1 and 2000",
        () -> LayoutRequest.stripes(1 << 16, 2001));
    refuses("pool name '../x' is not 1 to 15 of [A-Za-z0-9_.-]", () -> good.pool("../x"));
    refuses("OST index 65535 is not between 0 and 65534", () -> good.startingAt(65535));
    refuses("OST indices [0, -1] are not all between 0 and 65534", () -> good.osts(0, -1));
  }

  private static void refuses(String message, Runnable request) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, request::run);
    assertEquals(message, refused.getMessage());
  }
}
