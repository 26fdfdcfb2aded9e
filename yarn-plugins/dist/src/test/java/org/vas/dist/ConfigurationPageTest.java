package org.vas.dist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.vas.conf.ConfKey;
import org.vas.conf.LayoutConf;

class ConfigurationPageTest {
  private static final Path PAGE = Path.of(System.getProperty("basedir", ""))
      .toAbsolutePath().resolve("../../docs/configuration.md").normalize();

  // -Dvas.page.write=true brings the page up to date instead of comparing.
  @Test
  void thePageIsWhatTheSourceSays() throws IOException {
    if (Boolean.getBoolean("vas.page.write")) {
      ConfigurationPage.main(new String[] {PAGE.toString()});
    }
    assertEquals(ConfigurationPage.text(), Files.readString(PAGE),
        "bring docs/configuration.md up to date: mvn -f yarn-plugins/pom.xml -pl dist -am test"
            + " -Dvas.page.write=true");
  }

  @Test
  void everyKeyIsDeclaredOnceAndIsOurs() throws IOException {
    Set<String> names = new HashSet<>();
    for (Class<?> conf : ConfigurationPage.interfaces()) {
      assertTrue(conf.isInterface() && !ConfKey.declaredIn(conf).isEmpty(), conf::getName);
      for (ConfKey<?> key : ConfKey.declaredIn(conf)) {
        assertTrue(key.name().matches("(vas|fs\\.lustre)\\.[a-z0-9.-]+"), key::name);
        assertTrue(names.add(key.name()), () -> key.name() + " is declared twice");
        assertTrue(key.doc().endsWith("."), () -> key.name() + ": the doc is no sentence");
      }
    }
    assertTrue(names.contains(LayoutConf.CLUSTER_FILE.name()));
  }
}
