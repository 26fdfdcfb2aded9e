package org.vas.filesystem;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;

/** {@link LustreFileSystem} for {@code FileContext}, which YARN itself uses. */
public class LustreFs extends DelegateToFileSystem {
  /**
   * Makes the file system of a URI; {@code FileContext} calls this constructor.
   *
   * @throws IOException if the file system cannot be configured; the message names key and fix
   */
  public LustreFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    this(uri, new LustreFileSystem(), conf);
  }

  LustreFs(URI uri, LustreFileSystem files, Configuration conf)
      throws IOException, URISyntaxException {
    super(uri, files, conf, LustreFileSystem.SCHEME, false);
  }

  @Override
  public FileStatus[] listStatus(Path directory) throws IOException {
    FileStatus[] listed = super.listStatus(directory);
    for (FileStatus each : listed) {
      ColonPath.in(each);
    }
    return listed;
  }

  // The inherited one removes the destination first: for a moment nothing would have the name.
  @Override
  public void renameInternal(Path source, Path destination, boolean overwrite)
      throws IOException {
    ((LustreFileSystem) fsImpl).rename(
        source, destination, overwrite ? Options.Rename.OVERWRITE : Options.Rename.NONE);
  }
}
