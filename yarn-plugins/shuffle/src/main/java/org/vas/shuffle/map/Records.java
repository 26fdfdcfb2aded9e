package org.vas.shuffle.map;

/** Where the bytes of records are, by their places: see {@link Entries}. */
interface Records {
  byte[] block(long place);
}
