package org.vas.filesystem;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;

/** {@link LustreFileSystem} for {@code FileContext}, which YARN itself uses. */
public class LustreFs extends DelegateToFileSystem {
  /** As {@code FileContext} makes it. */
  public LustreFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    this(uri, new LustreFileSystem(), conf);
  }

  LustreFs(URI uri, LustreFileSystem files, Configuration conf)
      throws IOException, URISyntaxException {
    super(uri, files, conf, LustreFileSystem.SCHEME, false);
  }

  // The inherited one removes the destination first: for a moment nothing would have the name.
  @Override
  public void renameInternal(Path source, Path destination, boolean overwrite)
      throws IOException {
    ((LustreFileSystem) fsImpl).rename(
        source, destination, overwrite ? Options.Rename.OVERWRITE : Options.Rename.NONE);
  }
}
