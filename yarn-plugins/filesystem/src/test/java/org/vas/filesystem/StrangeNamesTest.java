package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsShell;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Opens and lists names that Lustre allows and Hadoop does not: with a colon, or not UTF-8. */
class StrangeNamesTest {
  private static final String COLON =
      "lustre:/in: the name 'a:b' in it holds a colon, with which Hadoop matches no pattern (";
  private static final String NOT_TEXT = "lustre:///in: the name 'caf\\xe9' in it is not UTF-8, and"
      + " Hadoop cannot open the file; rename it (mv $'caf\\xe9' NAME)";

  private Configuration conf;
  private Path in;
  private LustreFileSystem fs;

  @BeforeEach
  void start() throws IOException {
    conf = TestMount.configuration();
    in = Files.createDirectory(TestMount.mount(conf).resolve("in"));
    Files.writeString(in.resolve("plain"), "x");
    fs = new TestMount.OnFakeMds();
    fs.initialize(TestMount.ROOT_URI, conf);
  }

  @AfterEach
  void stop() throws IOException {
    fs.close();
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  private void colon() throws IOException {
    Files.writeString(in.resolve("a:b"), "colon");
  }

  // A path of these bytes can be made from a URI.
  private Path notText() throws IOException {
    Path file = Path.of(URI.create("file://" + in + "/caf%E9"));
    return Files.writeString(file, "latin");
  }

  @Test
  void O4_aPatternOverANameWithAColonNamesItAndTheFix() throws IOException {
    colon();
    for (String pattern : new String[] {"/in/*", "/in/p*", "/*/*"}) {
      String message =
          assertThrows(IOException.class, () -> fs.globStatus(path(pattern))).getMessage();
      assertTrue(message.startsWith(COLON) && message.contains("rename it"), message);
    }
  }

  @Test
  void O4_throughFileContextTooAPatternNamesTheDirectoryAndTheFix() throws IOException {
    colon();
    FileContext context = TestMount.fileContext(conf);
    for (String pattern : new String[] {"/in/*", "/in/p*", "/*/*"}) {
      String message = assertThrows(IllegalArgumentException.class,
          () -> context.util().globStatus(path(pattern))).getMessage();
      assertTrue(message.startsWith(COLON) && message.contains("rename it"), message);
    }
    assertEquals(1, context.util().globStatus(path("/i*")).length);
    FileStatus listed = context.util().listStatus(path("/in"))[0];
    assertEquals("a:b", listed.getPath().getName());
    try (var opened = context.open(listed.getPath())) {
      assertEquals("colon", new String(opened.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Test
  void O4_throughFileContextTooANameThatIsNotUtf8IsNeverSaidToBeMissing() throws IOException {
    notText();
    FileContext context = TestMount.fileContext(conf);
    FileStatus shown = context.util().globStatus(path("/in/c*"))[0];
    for (org.junit.jupiter.api.function.Executable call
        : new org.junit.jupiter.api.function.Executable[] {
            () -> context.open(shown.getPath()), () -> context.getFileStatus(shown.getPath()),
            () -> context.util().globStatus(shown.getPath())}) {
      assertEquals(NOT_TEXT, assertThrows(IOException.class, call).getMessage());
    }
  }

  @Test
  void O4_withoutAPatternANameWithAColonIsReadAsAnyOther() throws IOException {
    colon();
    assertEquals(2, fs.listStatus(path("/in")).length);
    assertEquals(1, fs.globStatus(path("/in")).length);
    assertEquals(1, fs.globStatus(path("/i*")).length);
    try (var opened = fs.open(fs.listStatus(path("/in"))[0].getPath())) {
      assertEquals("colon", new String(opened.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Test
  void O4_aNameThatIsNotUtf8IsNeverSaidToBeMissing() throws IOException {
    notText();
    FileStatus shown = fs.listStatus(path("/in"))[0];
    for (org.junit.jupiter.api.function.Executable call
        : new org.junit.jupiter.api.function.Executable[] {
            () -> fs.open(shown.getPath()), () -> fs.getFileStatus(shown.getPath()),
            () -> fs.getFileBlockLocations(shown, 0, 5), () -> fs.append(shown.getPath()),
            () -> fs.listStatus(shown.getPath())}) {
      IOException error = assertThrows(IOException.class, call);
      assertFalse(error instanceof FileNotFoundException, error.toString());
      assertEquals(NOT_TEXT, error.getMessage());
    }
    assertThrows(FileNotFoundException.class, () -> fs.open(path("/in/\uFFFD")));
    Files.createDirectory(in.resolve("\uFFFD"));
    assertThrows(FileNotFoundException.class, () -> fs.open(path("/in/\uFFFD/x")), "it is text");
  }

  @Test
  void O4_aTreeWithSuchNamesIsDeleted() throws IOException {
    colon();
    Path file = notText();
    assertTrue(Files.exists(file));
    assertTrue(fs.delete(path("/in"), true));
    assertFalse(Files.exists(in));
  }

  @Test
  void O4_hadoopFsSaysSoInOneLine() throws Exception {
    colon();
    notText();
    String globbed = shell("-ls", "lustre:///in/*");
    assertTrue(globbed.contains("the name 'a:b' in it holds a colon"), globbed);
    assertFalse(globbed.contains("Usage"), globbed);
    String copied = shell("-cat", "lustre:///in/caf\uFFFD");
    assertTrue(copied.contains("the name 'caf\\xe9' in it is not UTF-8"), copied);
    assertEquals(1, copied.lines().count(), copied);
  }

  private String shell(String... arguments) throws Exception {
    conf.setClass("fs.lustre.impl", TestMount.OnFakeMds.class,
        org.apache.hadoop.fs.FileSystem.class);
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      assertEquals(1, org.apache.hadoop.util.ToolRunner.run(new FsShell(conf), arguments));
    } finally {
      System.setErr(before);
    }
    return said.toString(StandardCharsets.UTF_8);
  }
}
