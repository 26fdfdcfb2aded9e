package org.vas.workloads.fetch;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;

/**
 * {@code StockServer LOCAL_DIR PORT}: runs Hadoop's own ShuffleHandler with the job of {@link
 * MadeJob}, as a NodeManager does. Prints {@code ready}, and ends when its standard input does.
 */
public final class StockServer {
  private StockServer() {}

  /** Serves until standard input ends. */
  public static void main(String[] args) throws Exception {
    JobConf conf = new JobConf();
    conf.set(YarnConfiguration.NM_LOCAL_DIRS, Path.of(args[0]).toString());
    conf.setInt(ShuffleHandler.SHUFFLE_PORT_CONFIG_KEY, Integer.parseInt(args[1]));
    try (ShuffleHandler handler = new ShuffleHandler()) {
      handler.setAuxiliaryLocalPathHandler(new LocalDirectories(conf));
      handler.init(conf);
      handler.start();
      handler.initializeApplication(new ApplicationInitializationContext(MadeJob.USER,
          MadeJob.APPLICATION, ShuffleHandler.serializeServiceData(new Token<JobTokenIdentifier>(
              new byte[0], MadeJob.SECRET, new Text(), new Text()))));
      System.out.println("ready");
      System.in.transferTo(OutputStream.nullOutputStream());
    }
  }

  /** Finds and makes paths in the NodeManager's local directories, as the NodeManager's own does. */
  private static final class LocalDirectories implements AuxiliaryLocalPathHandler {
    private final LocalDirAllocator directories =
        new LocalDirAllocator(YarnConfiguration.NM_LOCAL_DIRS);
    private final JobConf conf;

    LocalDirectories(JobConf conf) {
      this.conf = conf;
    }

    @Override
    public org.apache.hadoop.fs.Path getLocalPathForRead(String path) throws IOException {
      return directories.getLocalPathToRead(path, conf);
    }

    @Override
    public org.apache.hadoop.fs.Path getLocalPathForWrite(String path) throws IOException {
      return directories.getLocalPathForWrite(path, conf);
    }

    @Override
    public org.apache.hadoop.fs.Path getLocalPathForWrite(String path, long size)
        throws IOException {
      return directories.getLocalPathForWrite(path, size, conf);
    }

    @Override
    public Iterable<org.apache.hadoop.fs.Path> getAllLocalPathsForRead(String path)
        throws IOException {
      return directories.getAllLocalPathsToRead(path, conf);
    }
  }
}
