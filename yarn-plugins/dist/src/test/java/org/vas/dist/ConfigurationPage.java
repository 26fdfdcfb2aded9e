package org.vas.dist;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.vas.conf.ConfKey;

/**
 * Writes docs/configuration.md from the {@code XConf} interfaces of all modules. Run its main
 * method with the file's name after changing a key.
 */
public final class ConfigurationPage {
  private static final String HEAD = "# Configuration of the YARN plugins\n\n"
      + "Generated from the source by `org.vas.dist.ConfigurationPage`; do not edit.\n"
      + "Set these keys in `core-site.xml` or `yarn-site.xml`, or with `-D` for one job.\n"
      + "A size is a number with `k`, `m`, `g` or `t` (powers of 1024); a time is a number with"
      + " `ms`, `s`, `m`, `h` or `d`.\n"
      + "A value outside its bounds is refused with the key's name.\n";

  private ConfigurationPage() {}

  public static void main(String[] args) throws IOException {
    if (args.length != 1) {
      throw new IllegalArgumentException("give the page's path: docs/configuration.md");
    }
    Files.writeString(Path.of(args[0]), text());
  }

  static String text() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    for (Class<?> conf : interfaces()) {
      page.append("\n## `").append(conf.getName()).append("`\n\n")
          .append("| key | kind | default | values | meaning |\n")
          .append("|---|---|---|---|---|\n")
          .append(ConfKey.declaredIn(conf).stream().map(ConfigurationPage::row)
              .collect(Collectors.joining()));
    }
    return page.toString();
  }

  static List<Class<?>> interfaces() throws IOException {
    List<Class<?>> found = new ArrayList<>();
    for (String file : Modules.files().keySet()) {
      if (file.matches("org/vas/[a-z]+/[A-Z][A-Za-z]*Conf\\.class")) {
        found.add(load(file.replace(".class", "").replace('/', '.')));
      }
    }
    return found;
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String row(ConfKey<?> key) {
    return Stream.of(code(key.name()), key.type(), code(key.defaultText()), key.bounds(), key.doc())
        .map(cell -> cell.replace("|", "\\|"))
        .collect(Collectors.joining(" | ", "| ", " |\n"));
  }

  private static String code(String text) {
    return text.isEmpty() ? "" : "`" + text + "`";
  }
}
