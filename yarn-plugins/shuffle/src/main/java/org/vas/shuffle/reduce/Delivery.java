package org.vas.shuffle.reduce;

import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.DeflateCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.WritableSerialization;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.vas.shuffle.DaemonConf;
import org.vas.shuffle.HadoopClasses;

/** Decides whether the node's daemon merges for a job's reducers, or gives them segments. */
final class Delivery {
  private static final String KEY = DaemonConf.DELIVERY.name();

  private static final Map<Class<?>, Served> SERVED = Map.of(
      Text.class, new Served(1, Text.Comparator.class),
      BytesWritable.class, new Served(2, BytesWritable.Comparator.class),
      IntWritable.class, new Served(3, IntWritable.Comparator.class),
      LongWritable.class, new Served(4, LongWritable.Comparator.class),
      NullWritable.class, new Served(5, NullWritable.Comparator.class));

  private static final byte PLAIN = 0;
  private static final Map<Class<?>, Byte> DECODED = Map.of(
      DefaultCodec.class, (byte) 1, DeflateCodec.class, (byte) 1, GzipCodec.class, (byte) 2,
      SnappyCodec.class, (byte) 3, Lz4Codec.class, (byte) 4);
  // The daemon decodes chunks of at most Hadoop's usual buffer.
  private static final Map<Class<?>, String> BUFFERS = Map.of(
      SnappyCodec.class, CommonConfigurationKeys.IO_COMPRESSION_CODEC_SNAPPY_BUFFERSIZE_KEY,
      Lz4Codec.class, CommonConfigurationKeys.IO_COMPRESSION_CODEC_LZ4_BUFFERSIZE_KEY);
  private static final int LARGEST_BUFFER = 256 << 10;

  private final boolean asked;
  private final byte order;
  private final byte codec;
  private final String whySegments; // null where the daemon merges

  /** The protocol's number of a key class's order, and the comparator that has this order. */
  private static final class Served {
    private final byte number;
    private final Class<?> comparator;

    private Served(int number, Class<?> comparator) {
      this.number = (byte) number;
      this.comparator = comparator;
    }
  }

  private Delivery(boolean asked, byte order, byte codec, String whySegments) {
    this.asked = asked;
    this.order = order;
    this.codec = codec;
    this.whySegments = whySegments;
  }

  /**
   * Returns the decision for an attempt of a job's reduce task.
   *
   * @param codec null where nothing is compressed
   * @param number the attempt's number. All but the first, 0, get segments: whatever the first one
   *     failed of, a daemon without memory among it, they need no more than their JVM's
   */
  static Delivery of(JobConf job, CompressionCodec codec, int number) {
    boolean asked = DaemonConf.DELIVERY.get(job).equals("merged");
    Optional<String> why = asked ? whyNot(job, codec, number) : Optional.of(KEY + " is segments");
    Served served = SERVED.get(job.getMapOutputKeyClass());
    return why.isPresent() ? new Delivery(asked, (byte) 0, PLAIN, why.get())
        : new Delivery(true, served.number, codec == null ? PLAIN : DECODED.get(codec.getClass()), null);
  }

  private static Optional<String> whyNot(JobConf job, CompressionCodec codec, int number) {
    if (number > 0) {
      return Optional.of("this is not the task's first attempt");
    }
    if (codec != null && !isDecoded(codec.getClass())) {
      return Optional.of("map output is compressed by " + codec.getClass().getName()
          + ", which the daemon does not decode");
    }
    String buffer = codec == null ? null : BUFFERS.get(codec.getClass());
    if (buffer != null && job.getInt(buffer, LARGEST_BUFFER) > LARGEST_BUFFER) {
      return Optional.of(buffer + " is more than " + LARGEST_BUFFER + " bytes");
    }
    if (CryptoUtils.isEncryptedSpillEnabled(job)) {
      return Optional.of("map output is encrypted");
    }
    Class<?> key = job.getMapOutputKeyClass();
    Served served = SERVED.get(key);
    if (served == null || !HadoopClasses.include(key)) {
      return Optional.of("the key class " + key.getName() + " is none that the daemon orders");
    }
    Class<?> comparator = job.getOutputKeyComparator().getClass();
    if (comparator != served.comparator || !HadoopClasses.include(comparator)) {
      return Optional.of("the comparator " + comparator.getName() + " is not "
          + key.getSimpleName() + "'s own");
    }
    Object serialization = new SerializationFactory(job).getSerialization(key);
    return serialization != null && serialization.getClass() == WritableSerialization.class
        ? Optional.empty() : Optional.of("keys are not serialised as Hadoop's writables");
  }

  // A job's own class may have Hadoop's name, and write another format.
  private static boolean isDecoded(Class<?> codec) {
    return DECODED.containsKey(codec) && HadoopClasses.include(codec);
  }

  /** Returns whether the daemon is to merge. */
  boolean isMerged() {
    return whySegments == null;
  }

  /** Returns whether the job asks for it, so that a log should tell why not. */
  boolean isAsked() {
    return asked;
  }

  /** Returns why the daemon gives segments; null where it merges. */
  String whySegments() {
    return whySegments;
  }

  /** Returns the protocol's number of the codec of map output; 0 where nothing is compressed. */
  byte codec() {
    return codec;
  }

  /** Returns the protocol's number of the order of keys. */
  byte order() {
    return order;
  }
}
