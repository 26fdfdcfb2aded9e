package org.vas.shuffle.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.util.StringUtils;
import org.junit.jupiter.api.Test;

/** The proofs of a reducer are those that the daemon makes: the vector is in its auth.rs too. */
class ProofsTest {
  private static final String ASKER =
      "2e5d17df39591e410619b05e6a14f22f0e8e8aecec4c75bee427395f5546218c";
  private static final String ANSWERER =
      "09fba75b57fe714671b322e6729874e861d742118e887571bee9b668ae302285";

  private final Proofs proofs = new Proofs(filled(1), filled(2), new JobID("1700000000000", 3),
      new SecretKeySpec("a job's secret".getBytes(StandardCharsets.US_ASCII), "HmacSHA1"));

  @Test
  void javaAndRustProveTheSame() {
    assertEquals(ASKER, StringUtils.byteToHexString(proofs.asker()));
    assertTrue(proofs.isAnswerer(StringUtils.hexStringToByte(ANSWERER)));
  }

  @Test
  void anotherProofIsNotTheDaemons() {
    byte[] wrong = StringUtils.hexStringToByte(ANSWERER);
    wrong[31] ^= 1;
    assertFalse(proofs.isAnswerer(wrong));
    assertFalse(proofs.isAnswerer(proofs.asker()));
    assertFalse(proofs.isAnswerer(new byte[0]));
  }

  private static byte[] filled(int value) {
    byte[] nonce = new byte[Proofs.NONCE_BYTES];
    Arrays.fill(nonce, (byte) value);
    return nonce;
  }
}
