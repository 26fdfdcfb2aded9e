package org.vas.shuffle.mof;

/** Is told what was read of map outputs; called from several threads. */
public interface ReadMeter {
  /** Counts nothing. */
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

  /** That many stored bytes were read. */
  void read(long bytes);

  /** That many of the bytes read have to be read once more. */
  default void again(long bytes) {}
}
