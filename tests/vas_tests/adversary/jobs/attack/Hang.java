package attack;

import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;

/** A comparator that never returns in a reducer. */
final class Hang {
  private Hang() {}

  static void prepare(Job job) {
    job.setMapperClass(Word.TextMapper.class);
    job.setReducerClass(Word.Digest.class);
    job.setSortComparatorClass(Never.class);
  }

  /** As that of Text, in maps. */
  public static final class Never extends Text.Comparator {
    @Override
    public int compare(byte[] left, int leftOffset, int leftLength,
        byte[] right, int rightOffset, int rightLength) {
      while (System.getProperty("sun.java.command", "").contains("_r_")) {
        LockSupport.parkNanos(1_000_000);
      }
      return super.compare(left, leftOffset, leftLength, right, rightOffset, rightLength);
    }
  }
}
