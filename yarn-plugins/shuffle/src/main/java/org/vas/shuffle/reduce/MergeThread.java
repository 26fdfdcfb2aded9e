package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.crypto.CryptoCodec;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.vas.shuffle.HadoopClasses;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.merge.OrderCheck;
import org.vas.shuffle.order.KeyOrder;

/**
 * Decides which thread merges. A thread of its own runs comparator and codec while reduce() and its
 * deserialisers run: classes that keep scratch space in static fields, which is right in stock's
 * one thread, would then sort and group wrongly. So code of the job stays in the thread of
 * reduce(), unless the job says that its classes are safe.
 */
final class MergeThread {
  private static final String KEY = ShuffleConf.MERGE_THREAD.name();

  private final JobConf job;
  private final CompressionCodec codec;
  private final String mode;
  private final RawComparator<?> comparator;
  private final boolean known;

  /**
   * Makes the decision for one job.
   *
   * @param codec null where nothing is compressed
   */
  MergeThread(JobConf job, CompressionCodec codec) {
    this.job = job;
    this.codec = codec;
    this.mode = ShuffleConf.MERGE_THREAD.get(job);
    this.comparator = job.getOutputKeyComparator();
    this.known = KeyOrder.of(comparator).isKnown();
  }

  /**
   * Returns why the merge has to run in the thread of reduce(); empty if it may have a thread of its
   * own.
   */
  Optional<String> whyInReduce() throws IOException {
    if (mode.equals("off")) {
      return Optional.of(KEY + " is off");
    }
    if (isSharedScratch()) {
      return Optional.of(comparator.getClass().getName()
          + " is one object with scratch space for all who ask for it");
    }
    return mode.equals("on") ? Optional.empty() : jobsClass();
  }

  /** Returns whether the job asks for a thread of its own. */
  boolean isAsked() {
    return mode.equals("on");
  }

  /**
   * Returns the check of the order of records that reach reduce(), for the thread of reduce().
   *
   * @param where names job and attempt in its error
   */
  OrderCheck orderCheck(String where) {
    if (known) {
      return OrderCheck.of(KeyOrder.of(job), where, "a map's output was not sorted, or memory is"
          + " damaged; run the job again, and with " + ShuffleConf.ENABLED.name()
          + "=false if it fails again");
    }
    // In one thread a comparator that contradicts itself gives what it gives in stock: any order.
    if (!mode.equals("on") || jobsOrder().isEmpty()) {
      return OrderCheck.none();
    }
    return OrderCheck.of(KeyOrder.of(job), where, comparator.getClass().getName() + " or "
        + job.getMapOutputKeyClass().getName() + " is not safe in two threads at once, or"
        + " contradicts itself; set " + KEY + "=auto");
  }

  private Optional<String> jobsClass() throws IOException {
    if (codec != null && !isHadoops(codec)) {
      return notHadoops("codec", codec.getClass());
    }
    Optional<String> cipher = jobsCipher();
    return cipher.isPresent() || known ? cipher : jobsOrder();
  }

  // Hadoop's generic comparators order by code of the key class and of its serialization.
  private Optional<String> jobsOrder() {
    if (!isHadoops(comparator)) {
      return notHadoops("comparator", comparator.getClass());
    }
    Class<?> key = job.getMapOutputKeyClass();
    if (!HadoopClasses.include(key)) {
      return notHadoops("key class", key);
    }
    Object serialization = new SerializationFactory(job).getSerialization(key);
    return serialization == null || isHadoops(serialization) ? Optional.empty()
        : notHadoops("serialization", serialization.getClass());
  }

  private Optional<String> jobsCipher() throws IOException {
    if (!CryptoUtils.isEncryptedSpillEnabled(job)) {
      return Optional.empty();
    }
    try (CryptoCodec cipher = CryptoCodec.getInstance(job)) {
      return cipher == null || isHadoops(cipher) ? Optional.empty()
          : notHadoops("cipher", cipher.getClass());
    }
  }

  /**
   * Returns whether the comparator that the job's key class registered is one object for all who
   * ask, and compares by Hadoop's generic method, which reads both keys into fields of the object:
   * then reduce() groups with the object that the merge sorts with.
   */
  private boolean isSharedScratch() {
    if (comparator != job.getOutputKeyComparator()
        || !(comparator instanceof WritableComparator)) {
      return false;
    }
    try {
      return comparator.getClass().getMethod("compare", byte[].class, int.class, int.class,
          byte[].class, int.class, int.class).getDeclaringClass() == WritableComparator.class;
    } catch (NoSuchMethodException e) {
      return true;
    }
  }

  private static boolean isHadoops(Object object) {
    return HadoopClasses.include(object.getClass());
  }

  private static Optional<String> notHadoops(String what, Class<?> kind) {
    return Optional.of("the " + what + " " + kind.getName() + " is not Hadoop's own; set " + KEY
        + "=on if its code is safe in two threads at once");
  }
}
