package org.vas.shuffle.order;

import org.apache.hadoop.io.WritableUtils;

/** Orders serialised Texts: the length as a vint, then UTF-8. */
final class TextOrder extends ContentOrder {
  @Override
  public int shortestKey() {
    return 1;
  }

  @Override
  int header(byte[] bytes, int offset) {
    return WritableUtils.decodeVIntSize(bytes[offset]);
  }
}
