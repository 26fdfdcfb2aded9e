package org.vas.scheduler;

import java.io.StringWriter;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.WriterAppender;

/**
 * Captures the messages of one logger while this is open, one per line; other loggers stay silent.
 */
final class CapturedLog implements AutoCloseable {
  private final StringWriter lines = new StringWriter();
  private final WriterAppender appender = new WriterAppender(new PatternLayout("%m%n"), lines);
  private final Logger log;

  CapturedLog(String name) {
    log = Logger.getLogger(name);
    log.setLevel(Level.INFO);
    log.setAdditivity(false);
    log.addAppender(appender);
    Logger.getRootLogger().setLevel(Level.OFF);
    LogManager.getLoggerRepository().setThreshold(Level.INFO);
  }

  String text() {
    return lines.toString();
  }

  @Override
  public void close() {
    log.removeAppender(appender);
    LogManager.getLoggerRepository().setThreshold(Level.FATAL);
  }
}
