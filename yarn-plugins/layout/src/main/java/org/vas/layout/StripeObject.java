package org.vas.layout;

/** One object of a file on an OST. */
public final class StripeObject {
  private final int ostIndex;
  private final long sequence;
  private final int objectId;
  private final int version;

  StripeObject(int ostIndex, long sequence, int objectId, int version) {
    this.ostIndex = ostIndex;
    this.sequence = sequence;
    this.objectId = objectId;
    this.version = version;
  }

  /** 0 to 65534 on any real file system; as stored, an unsigned number. */
  public int ostIndex() {
    return ostIndex;
  }

  /** The object's FID as {@code lfs} prints it, without brackets. */
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
