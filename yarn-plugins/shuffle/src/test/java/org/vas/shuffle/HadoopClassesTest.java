package org.vas.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.forged.ForgedComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapred.lib.KeyFieldBasedComparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which classes are Hadoop's own. */
class HadoopClassesTest {
  @TempDir Path dir;

  @Test
  void W1_hadoopsJarsHaveHadoopsClasses() {
    assertTrue(HadoopClasses.include(Text.Comparator.class));
    assertTrue(HadoopClasses.include(GzipCodec.class));
    assertTrue(HadoopClasses.include(KeyFieldBasedComparator.class));
    assertFalse(HadoopClasses.include(String.class));
    assertFalse(HadoopClasses.include(HadoopClassesTest.class));
  }

  @Test
  void W1_aNameIsNoProof() {
    assertFalse(HadoopClasses.include(ForgedComparator.class));
  }

  /** A second copy of Hadoop, as a job's own class loader has it. */
  @Test
  void W1_anotherClassLoadersHadoopIsNotHadoops() throws Exception {
    URL jar = Text.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader jobs = new URLClassLoader(new URL[] {jar}, null)) {
      Class<?> copy = jobs.loadClass("org.apache.hadoop.io.NullWritable");
      assertNotEquals(getClass().getClassLoader(), copy.getClassLoader());
      assertFalse(HadoopClasses.include(copy));
    }
  }

  @ParameterizedTest
  @CsvSource({"job.jar/job.jar, true", "job.jar/lib/hadoop-common.jar, true",
      "job.jar/classes/, true", "hadoop-common.jar, true",
      "mr-framework/hadoop/share/hadoop-common.jar, false"})
  void W1_jarsOfTheJobAreKnownByTheirPlace(String place, boolean jobs) throws IOException {
    Path working = Files.createDirectories(dir.resolve("container"));
    Files.createDirectories(working.resolve("job.jar/lib"));
    Files.createDirectories(working.resolve("mr-framework/hadoop/share"));
    Path link = Files.createSymbolicLink(dir.resolve("link"), working);
    assertEquals(jobs, HadoopClasses.isJobs("file:" + working.resolve(place), working));
    assertEquals(jobs, HadoopClasses.isJobs("file:" + link.resolve(place), working));
    assertFalse(HadoopClasses.isJobs("file:" + dir.resolve("hadoop-common.jar"), working));
    assertTrue(HadoopClasses.isJobs("jar:file:/a.jar!/", working), "not known");
  }
}
