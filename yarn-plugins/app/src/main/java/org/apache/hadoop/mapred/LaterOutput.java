package org.apache.hadoop.mapred;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Leads the standard output, or error, of a JVM's later tasks to the file of the task that runs. A
 * library that keeps the stream of an earlier task so writes to that file too.
 */
final class LaterOutput extends OutputStream {
  private final PrintStream first;
  private PrintStream stream;
  private OutputStream target;

  /** Makes the output of a JVM whose first task writes to {@code first}. */
  LaterOutput(PrintStream first) {
    this.first = first;
    this.stream = first;
    this.target = first;
  }

  /** Makes a file, or empties the one that is there, and returns a stream that writes to it. */
  synchronized PrintStream begin(Path file) throws IOException {
    target = Files.newOutputStream(file);
    // A new one for each task, which may close its own.
    stream = new PrintStream(this, true, Charset.defaultCharset());
    return stream;
  }

  /** Closes the file; returns the first task's stream, to which what follows is written. */
  synchronized PrintStream end() {
    stream.flush();
    if (target != first) {
      OutputStream ended = target;
      target = first;
      try {
        ended.close();
      } catch (IOException e) {
        first.println("the output of a task may not be whole: " + e);
      }
    }
    return first;
  }

  @Override
  public synchronized void write(int value) throws IOException {
    target.write(value);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
    target.write(bytes, offset, length);
  }

  @Override
  public synchronized void flush() throws IOException {
    target.flush();
  }
}
