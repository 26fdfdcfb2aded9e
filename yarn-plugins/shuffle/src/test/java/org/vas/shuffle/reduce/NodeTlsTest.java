package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.mapreduce.MRConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs a job that demands TLS, on a node whose daemon has none, and on one that has it. */
@Timeout(60)
class NodeTlsTest {
  private static final String PASSWORD = "changeit";

  @TempDir Path dir;

  private static void maps(NodeHarness harness) throws IOException {
    harness.job.setBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, true);
    harness.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    for (int map = 0; map < 2; map++) {
      harness.map(map, List.of(Rec.random(new Random(map), 20_000)));
    }
  }

  @Test
  void aDaemonWithoutTlsGetsNothingForAJobThatDemandsIt() throws Exception {
    try (NodeHarness harness = new NodeHarness(dir, 2)) {
      maps(harness);
      IOException e = assertThrows(IOException.class, harness::run);
      assertTrue(e.getMessage().contains("the job demands TLS"), e::getMessage);
      harness.job.setBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, false);
      harness.checkAttempt(1);
    }
  }

  /** The files are those of a keystore, as ssl-server.xml names one. */
  @Test
  void aDaemonWithTheFilesOfAKeystoreServesSuchAJob() throws Exception {
    Path store = dir.resolve("keystore.p12");
    Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
        "-genkeypair", "-alias", "node", "-keyalg", "RSA", "-dname", "CN=localhost", "-ext",
        "san=dns:localhost", "-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore", store.toString())
        .redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, keytool.waitFor(), said);
    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    Path certificate = pem("CERTIFICATE", keys.getCertificate("node").getEncoded());
    Path key = pem("PRIVATE KEY", keys.getKey("node", PASSWORD.toCharArray()).getEncoded());
    try (NodeHarness harness = new NodeHarness(dir.resolve("node"), 2, Map.of(
        "vas.shuffled.tls.certificate", certificate.toString(), "vas.shuffled.tls.key", key.toString(),
        "vas.shuffled.tls.authorities", certificate.toString()))) {
      maps(harness);
      harness.check();
    }
  }

  private Path pem(String kind, byte[] bytes) throws IOException {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    Path file = Files.writeString(dir.resolve(kind.replace(' ', '-')),
        "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }
}
