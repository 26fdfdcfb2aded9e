package org.vas.shuffle.daemon;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapred.JobID;

/**
 * Makes and checks the proofs by which both ends of a connection show that they know a job's
 * shuffle secret.
 */
final class Proofs {
  static final int BYTES = 32;
  static final int NONCE_BYTES = 32;
  private static final String ALGORITHM = "HmacSHA256";

  private final byte[] ours;
  private final byte[] theirs;
  private final JobID job;
  private final SecretKey secret;

  /**
   * Makes the proofs of a connection.
   * @param ours the nonce of this end, which asks
   * @param theirs the nonce of the daemon
   */
  Proofs(byte[] ours, byte[] theirs, JobID job, SecretKey secret) {
    this.ours = ours;
    this.theirs = theirs;
    this.job = job;
    this.secret = secret;
  }

  byte[] asker() {
    return proof("vas-jbs 1 asker");
  }

  boolean isAnswerer(byte[] proof) {
    return MessageDigest.isEqual(proof, proof("vas-jbs 1 answerer"));
  }

  private byte[] proof(String role) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret.getEncoded(), ALGORITHM));
      mac.update(role.getBytes(StandardCharsets.US_ASCII));
      mac.update((byte) 0);
      mac.update(ours);
      mac.update(theirs);
      mac.update(jobBytes(job));
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + ", which every JVM has", e);
    }
  }

  /**
   * Returns a job as messages name it: the start time of the ResourceManager, and the job's number.
   */
  static byte[] jobBytes(JobID job) {
    return ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
        .putLong(Long.parseLong(job.getJtIdentifier())).putInt(job.getId()).array();
  }
}
