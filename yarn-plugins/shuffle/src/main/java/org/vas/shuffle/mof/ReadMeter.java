package org.vas.shuffle.mof;

/** Counts what is read of map outputs; called from several threads. */
public interface ReadMeter {
  /** A meter that counts nothing of what it is told. */
  ReadMeter NONE = new ReadMeter() {
    @Override
    public void opened() {}

    @Override
    public void read(long bytes) {}
  };

  /** Counts a map output file that was opened. */
  void opened();

  /** Counts a map output file that was opened and is closed now. */
  default void closed() {}

  /** Counts the stored bytes of a segment that were read from its file. */
  void read(long bytes);

  /** Counts bytes that were read and must be read once more. */
  default void again(long bytes) {}
}
