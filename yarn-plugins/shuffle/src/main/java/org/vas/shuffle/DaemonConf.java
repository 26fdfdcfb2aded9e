package org.vas.shuffle;

import java.time.Duration;
import java.util.List;
import org.vas.conf.ConfKey;

/** The configuration keys of {@code vas-shuffled}, the daemon for node-local map output. */
public interface DaemonConf {
  ConfKey<String> PROGRAM = ConfKey.text("vas.shuffled.program", "/usr/bin/vas-shuffled",
      "The daemon's program; a NodeManager's key.");

  ConfKey<Integer> PORT = ConfKey.integer("vas.shuffled.port", 13563, 1, 65535,
      "The port where the daemons of other nodes connect: the same on all nodes. A NodeManager's"
          + " key.");

  ConfKey<Long> MEMORY = ConfKey.bytes("vas.shuffled.memory", "256m", "4m", "64g",
      "Bytes of map output that the daemon holds at most for the reducers of its node; for answers"
          + " to other nodes it takes a quarter more. A NodeManager's key.");

  ConfKey<Integer> METRICS_PORT = ConfKey.integer("vas.shuffled.metrics-port", 0, 0, 65535,
      "The port of 127.0.0.1 where Prometheus asks the daemon; 0 for none. A NodeManager's key.");

  ConfKey<String> TLS_CERTIFICATE = ConfKey.text("vas.shuffled.tls.certificate", "",
      "PEM file with this node's certificate, for the name that its NodeManager reports, and with"
          + " the intermediate certificates. With vas.shuffled.tls.key and .authorities daemons talk"
          + " by TLS 1.3 alone; where mapreduce.shuffle.ssl.enabled is true all three must be set. A"
          + " NodeManager's key.");

  ConfKey<String> TLS_KEY = ConfKey.text("vas.shuffled.tls.key", "",
      "PEM file with the key of this node's certificate, which only the NodeManager's user or root may"
          + " read. A NodeManager's key.");

  ConfKey<String> TLS_AUTHORITIES = ConfKey.text("vas.shuffled.tls.authorities", "",
      "PEM file with the certificates of the authorities that sign nodes' certificates. A"
          + " NodeManager's key.");

  ConfKey<String> RDMA = ConfKey.choice("vas.shuffled.rdma", "off", List.of("auto", "off", "on"),
      "Whether daemons talk by RDMA, whose bytes are not encrypted. auto: where both ends have it,"
          + " else by TCP; on: alone, so that a node without it is not reached. Where the keys"
          + " of TLS are set, auto means TLS by TCP, and the daemon does not start with on. A"
          + " NodeManager's key.");

  ConfKey<String> DELIVERY = ConfKey.choice("vas.shuffled.delivery", "segments",
      List.of("segments", "merged"),
      "What the daemon gives a reducer. segments: the bytes of each map's segment, which the"
          + " reducer's JVM merges. merged: one sorted stream that the daemon merged, where the keys"
          + " are Text, BytesWritable, IntWritable, LongWritable or NullWritable in the order of"
          + " their own comparators, map output is not encrypted and has no codec but Hadoop's"
          + " DefaultCodec, DeflateCodec, GzipCodec, SnappyCodec or Lz4Codec, and the daemon"
          + " has memory for all segments at once; else segments, and the task's log says why. A"
          + " job's key.");

  ConfKey<Duration> PATIENCE = ConfKey.duration("vas.shuffled.patience", "60s", "1s", "1h",
      "How long a reducer asks again while a daemon cannot be reached. After that the map is"
          + " reported as lost; during the merge, or where the reducer's own node is in trouble,"
          + " the reduce attempt fails instead. A job's key.");
}
