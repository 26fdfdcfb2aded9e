package org.vas.layout;

/** One object of a file on an OST. */
public final class OstObject {
  private final int ostIndex;
  private final long sequence;
  private final int objectId;
  private final int version;

  OstObject(int ostIndex, long sequence, int objectId, int version) {
    this.ostIndex = ostIndex;
    this.sequence = sequence;
    this.objectId = objectId;
    this.version = version;
  }

  /** Returns the index of the OST, unsigned; 0 to 65534 on any real file system. */
  public int ostIndex() {
    return ostIndex;
  }

  /** Returns the object's FID as {@code lfs} prints it, without brackets. */
  public String fid() {
    return "0x" + Long.toHexString(sequence)
        + ":0x" + Integer.toHexString(objectId)
        + ":0x" + Integer.toHexString(version);
  }

  @Override
  public String toString() {
    return "OST" + ostIndex + " " + fid();
  }
}
