package org.vas.shuffle.daemon;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.apache.hadoop.util.Progressable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.merge.BufferedChunks;
import org.vas.shuffle.merge.DisorderException;
import org.vas.shuffle.mof.ReadMeter;

/**
 * The records of a reduce partition that this node's daemon merges, as one IFile stream, each block
 * verified before it is used. Where the daemon ends and is started again it is asked for the rest:
 * the same segments merge to the same stream, which the checksum over all of it shows.
 */
public final class MergedStream extends BufferedChunks {
  private static final Logger LOG = LoggerFactory.getLogger(MergedStream.class);
  private static final int LARGEST_BLOCK = 128 << 10;
  private static final int END_MARKER = 2;
  // The first may find out only that a connection is dead.
  private static final int FEWEST_TRIES = 2;
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 3000;

  private final PartitionToMerge wanted;
  private final ReadMeter meter;
  private final Progressable alive;
  private final CRC32C checksum = new CRC32C();
  private final byte[] block = new byte[LARGEST_BLOCK];
  private long taken; // bytes of the stream that were verified
  private MergeConnection connection;
  private boolean begun; // once, on this connection or one before
  private boolean ended;
  private IOException failure;
  private int tries;
  private long triedNanos;
  private long mergingNanos; // when the daemon began to merge last

  private MergedStream(PartitionToMerge wanted, ReadMeter meter, Progressable alive) {
    this.wanted = requireNonNull(wanted, "wanted");
    this.meter = requireNonNull(meter, "meter");
    this.alive = requireNonNull(alive, "alive");
  }

  /**
   * Asks the daemon for a merge, and waits until it begins; while the daemon cannot be reached, until
   * the job's patience ends.
   *
   * @throws DeclinedException if the daemon does not merge this, but would give the segments
   * @throws IOException if it cannot be reached for so long
   */
  public static MergedStream open(PartitionToMerge wanted, ReadMeter meter, Progressable alive)
      throws IOException {
    MergedStream stream = new MergedStream(wanted, meter, alive);
    try {
      boolean begins;
      do {
        begins = stream.begin();
      } while (!begins);
      return stream;
    } catch (Handshake.OtherVersionException e) {
      throw new DeclinedException("this node's vas-shuffled is of a version that does not merge");
    } catch (RefusedException e) {
      if (isDeclined(e)) {
        throw new DeclinedException(e.getMessage());
      }
      throw e;
    }
  }

  /** Thrown when the daemon does not merge what it was asked for, but would give the segments. */
  public static final class DeclinedException extends IOException {
    private static final long serialVersionUID = 1;

    DeclinedException(String message) {
      super(message);
    }
  }

  private static boolean isDeclined(IOException e) {
    DaemonRefusal refusal =
        e instanceof RefusedException ? ((RefusedException) e).refusal() : null;
    return refusal == DaemonRefusal.TOO_MUCH || refusal == DaemonRefusal.BUSY;
  }

  /** Tries once to begin; returns false after a pause if that may be tried again. */
  private boolean begin() throws IOException {
    if (tries++ == 0) {
      triedNanos = System.nanoTime();
    }
    MergeConnection made = null;
    try {
      made = new MergeConnection(wanted, alive);
      made.begin(wanted, taken);
      if (!begun) {
        meter.read(wanted.storedBytes());
      }
      connection = made;
      begun = true;
      mergingNanos = System.nanoTime();
      return true;
    } catch (IOException e) {
      if (made != null) {
        made.close();
      }
      if (!mayPass(e) || (!begun && isDeclined(e))) {
        throw e;
      }
      pause(e);
      return false;
    }
  }

  private static boolean mayPass(IOException e) {
    if (e instanceof RefusedException) {
      DaemonRefusal refusal = ((RefusedException) e).refusal();
      // The daemon itself has asked a node again that cannot be reached.
      return refusal.mayPass() && refusal != DaemonRefusal.UNREACHABLE;
    }
    return !(e instanceof Handshake.OtherVersionException || e instanceof WrongStreamException
        || e instanceof MergeConnection.StalledException || e instanceof InterruptedIOException
        || Thread.currentThread().isInterrupted());
  }

  /** Waits a little; throws the cause if the job's patience is at its end. */
  private void pause(IOException cause) throws IOException {
    long waited = System.nanoTime() - triedNanos;
    if (tries >= FEWEST_TRIES && waited > wanted.patience().toNanos()) {
      throw new IOException("this node's vas-shuffled does not merge: " + cause.getMessage(), cause);
    }
    LOG.info("Asking for the merge again, behind {} bytes: {}", taken, cause.toString());
    long millis = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(10, tries - 1));
    alive.progress();
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted").initCause(e);
    }
  }

  @Override
  public boolean next() throws IOException {
    use(block, 0);
    while (!ended && end() == 0) {
      if (failure != null) {
        throw failure; // to whoever hides it and asks for more
      }
      try {
        advance();
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }
    return !ended;
  }

  private void advance() throws IOException {
    if (connection == null && !begin()) {
      return;
    }
    try {
      ByteBuffer words = connection.message();
      if (connection.kind() == MergeConnection.BLOCK && words.remaining() == 2 * Integer.BYTES) {
        take(words.getInt(), words.getInt());
      } else if (connection.kind() == MergeConnection.MERGED && words.remaining() == 2 * Long.BYTES) {
        end(words.getLong(), words.getLong());
      } else {
        throw new WrongStreamException("a message of kind " + connection.kind() + " amid a merge");
      }
    } catch (RefusedException e) {
      disconnect();
      if (e.refusal() == DaemonRefusal.DISORDER) {
        throw new DisorderException(wanted.where() + ": " + e.getMessage() + ", so groups would be"
            + " wrong: the map's output was not sorted; run the job again, and with"
            + " vas.shuffle.enabled=false if it fails again");
      }
      again(e);
    } catch (IOException e) {
      disconnect();
      again(e);
    }
  }

  private void again(IOException e) throws IOException {
    if (!mayPass(e)) {
      throw e;
    }
    if (tries++ == 0) {
      triedNanos = System.nanoTime();
    } else {
      // The daemon may merge for longer than the job's patience before it has new bytes to send.
      triedNanos += System.nanoTime() - mergingNanos;
    }
    pause(e);
  }

  private void take(int bytes, int expected) throws IOException {
    if (bytes <= 0 || bytes > LARGEST_BLOCK || taken + bytes > wanted.streamBytes()) {
      throw new WrongStreamException("a block of " + bytes + " bytes behind " + taken);
    }
    connection.read(ByteBuffer.wrap(block, 0, bytes));
    checksum.update(block, 0, bytes);
    if ((int) checksum.getValue() != expected) {
      throw new WrongStreamException("wrong checksum of the merged records behind " + taken + " bytes");
    }
    taken += bytes;
    use(block, bytes);
    tries = 0;
    alive.progress();
  }

  private void end(long records, long bytes) throws IOException {
    if (taken != wanted.streamBytes() || bytes != taken - END_MARKER) {
      throw new WrongStreamException("the daemon merged " + records + " records in " + bytes
          + " bytes, and " + taken + " came of " + wanted.streamBytes());
    }
    ended = true;
    disconnect();
  }

  /** An error that another try would not cure: the bytes are not what they should be. */
  private static final class WrongStreamException extends IOException {
    private static final long serialVersionUID = 1;

    WrongStreamException(String message) {
      super(message + "; run the job again, and with vas.shuffled.delivery=segments if it fails again");
    }
  }

  // To finish is to wait for the daemon's word that this was all.
  @Override
  protected IOException bytesBehindTheEnd() {
    return new WrongStreamException("bytes behind the end of the merged records");
  }

  @Override
  public void close() throws IOException {
    if (failure == null && !ended) {
      failure = new IOException("the merged records are closed");
    }
    disconnect();
  }

  private void disconnect() throws IOException {
    if (connection != null) {
      MergeConnection old = connection;
      connection = null;
      old.close();
    }
  }
}
