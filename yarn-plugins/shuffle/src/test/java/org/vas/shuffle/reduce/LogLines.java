package org.vas.shuffle.reduce;

import java.io.Closeable;
import java.io.StringWriter;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.SimpleLayout;
import org.apache.log4j.WriterAppender;

/** Notes what a class logs until this is closed. */
final class LogLines implements Closeable {
  private final Logger logger;
  private final Level level;
  private final Level threshold;
  private final StringWriter lines = new StringWriter();
  private final WriterAppender appender = new WriterAppender(new SimpleLayout(), lines);

  LogLines(Class<?> of) {
    logger = Logger.getLogger(of);
    level = logger.getLevel();
    threshold = logger.getLoggerRepository().getThreshold();
    logger.getLoggerRepository().setThreshold(Level.INFO);
    logger.setLevel(Level.INFO);
    logger.addAppender(appender);
  }

  /** Returns the lines so far. */
  @Override
  public String toString() {
    return lines.toString();
  }

  @Override
  public void close() {
    logger.removeAppender(appender);
    logger.setLevel(level);
    logger.getLoggerRepository().setThreshold(threshold);
  }
}
