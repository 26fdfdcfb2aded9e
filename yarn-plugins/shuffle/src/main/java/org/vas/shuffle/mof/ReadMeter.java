package org.vas.shuffle.mof;

/** Counts what is read of map outputs; called from several threads. */
public interface ReadMeter {
  /** A meter that does not count. */
  ReadMeter NONE = new ReadMeter() {
    @Override
    public void opened() {}

    @Override
    public void read(long bytes) {}
  };

  /** A file was opened. */
  void opened();

  /** A file that was opened is closed. */
  default void closed() {}

  /** Counts stored bytes that were read. */
  void read(long bytes);

  /** Counts bytes that were read and must be read once more. */
  default void again(long bytes) {}
}
