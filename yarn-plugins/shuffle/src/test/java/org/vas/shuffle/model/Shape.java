package org.vas.shuffle.model;

/** The sizes and settings of one job of the model. */
final class Shape {
  final int maps;
  final int reducers;
  final String layout;
  final String codec;
  final boolean encrypted;
  /** Each map attempt leaves several runs, and they do not all fit the reducer's memory. */
  final boolean large;

  Shape(int maps, int reducers, String layout, String codec, boolean encrypted, boolean large) {
    this.maps = maps;
    this.reducers = reducers;
    this.layout = layout;
    this.codec = codec;
    this.encrypted = encrypted;
    this.large = large;
  }

  @Override
  public String toString() {
    return maps + "x" + reducers + " " + layout + " " + codec + (encrypted ? " encrypted" : "")
        + (large ? " large" : "");
  }
}
