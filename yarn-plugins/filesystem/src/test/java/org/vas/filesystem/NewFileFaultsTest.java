package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Makes files with layouts that the metadata server refuses, cuts, ignores or does not know. */
class NewFileFaultsTest extends NewFiles {
  /** A file system whose metadata server misbehaves as told. */
  private FileSystem filesOn(ClientCalls calls) throws IOException {
    LustreFileSystem made = new LustreFileSystem(calls);
    made.initialize(URI.create("lustre:///"), conf);
    return made;
  }

  /** Lustre cuts what is larger than its MDTs take, and says nothing. */
  @Test
  void lessOnTheMdtThanAskedForIsNoReasonToFail() throws Exception {
    conf.set("vas.lustre.dom-paths", ".*/manifest");
    conf.set("vas.lustre.dom-size", "128k");
    String manifest = "/job_1_0001/shuffle/attempt_1_0001_m_000000_0/manifest";
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(FileCreator.class));
    filesOn(new Misbehaving() {
      @Override
      public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
        byte[] cut = value.clone();
        if (value.length > 128) {
          cut[32 + 18] = 1;
          cut[80 + 10] = 1;
        }
        super.set(file, name, cut);
      }
    }).create(new Path(manifest)).close();
    log.stopCapturing();
    assertEquals(0, layoutOf(manifest).objects().get(0).ostIndex());
    assertTrue(log.getOutput().contains("131072 on the MDT"), log::getOutput);
  }

  @Test
  void failsClosedWhenLustreAcceptsALayoutAndIgnoresIt() throws Exception {
    FileSystem broken = filesOn(new Misbehaving() {
      @Override
      public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
        byte[] other = value.clone();
        other[160 + 26] = 1;
        super.set(file, name, other);
      }
    });
    IOException error = assertThrows(IOException.class, () -> broken.create(new Path("/a")));
    assertTrue(error.getMessage().startsWith(local("/a") + ": asked for the layout one object"),
        error.getMessage());
    assertEquals(List.of(), names());
  }

  @Test
  void aFullLocalOstIsNoReasonToFailAReduceAttempt() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(FileCreator.class));
    filesOn(new Misbehaving() {
      @Override
      public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
        if (startOf(value) == 0) {
          throw new ErrnoException(file, "setxattr " + name, Errno.ENOSPC);
        }
        super.set(file, name, value);
      }
    }).create(new Path(REDUCE_ATTEMPT)).close();
    log.stopCapturing();
    assertEquals(1, layoutOf(REDUCE_ATTEMPT).stripeCount());
    assertEquals(1, log.getOutput().lines().count(), log::getOutput);
    assertTrue(log.getOutput().contains("ENOSPC") && log.getOutput().contains("from OST 0"),
        log::getOutput);
  }

  @Test
  void anOtherOstThanTheLocalOneIsTakenInThePoolOfTheSite() throws Exception {
    conf.set("vas.lustre.pool", "fast");
    filesOn(new Misbehaving() {
      @Override
      public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
        byte[] elsewhere = value.clone();
        if (startOf(value) == 0) {
          elsewhere[30] = 3;
        }
        super.set(file, name, elsewhere);
      }
    }).create(new Path(REDUCE_ATTEMPT)).close();
    assertEquals(1, layoutOf(REDUCE_ATTEMPT).stripeCount());
    assertEquals("fast", layoutOf(REDUCE_ATTEMPT).pool().orElseThrow());
  }

  @Test
  void aPrivateFileThatNoOstTakesFailsClosed() throws Exception {
    FileSystem full = filesOn(new Misbehaving() {
      @Override
      public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
        throw new ErrnoException(file, "setxattr " + name, Errno.ENOSPC);
      }
    });
    assertThrows(IOException.class, () -> full.create(new Path(REDUCE_ATTEMPT)));
    assertFalse(Files.exists(local(REDUCE_ATTEMPT)));
  }

  @Test
  void saysHowToGoOnWhereTheMountIsNotLustre() throws Exception {
    ClientCalls notLustre = new Misbehaving() {
      @Override
      public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
        throw new ErrnoException(file, "setxattr " + name, Errno.EOPNOTSUPP);
      }
    };
    FileSystem strict = filesOn(notLustre);
    IOException error = assertThrows(IOException.class, () -> strict.create(new Path("/a")));
    assertEquals(local("/a") + ": no layout can be set here: EOPNOTSUPP; mount Lustre there,"
        + " or set vas.layout.required=false", error.getMessage());
    assertEquals(List.of(), names());

    conf.setBoolean("vas.layout.required", false);
    filesOn(notLustre).create(new Path("/a")).close();
    assertEquals(List.of("a"), names());
  }

  private static class Misbehaving implements ClientCalls {
    @Override
    public byte[] get(java.nio.file.Path file, String name) throws ErrnoException {
      return TestMount.MDS.get(file, name);
    }

    @Override
    public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
      TestMount.MDS.set(file, name, value);
    }

    @Override
    public void mknod(java.nio.file.Path file, int mode) throws IOException {
      TestMount.MDS.mknod(file, mode);
    }
  }
}
