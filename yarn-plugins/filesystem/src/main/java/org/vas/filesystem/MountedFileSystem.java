package org.vas.filesystem;

import static java.util.Objects.requireNonNull;
import static org.apache.hadoop.fs.impl.PathCapabilitiesSupport.validatePathCapabilityArgs;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The part of {@link LustreFileSystem} that says which file system it is: its URI, its mount, its
 * working directory, its statistics and what it can do.
 */
abstract class MountedFileSystem extends FileSystem {
  static final String SCHEME = "lustre";
  /** The scheme under which MapReduce publishes the bytes read from OSTs of the VM's own host. */
  static final String LOCAL_SCHEME = "lustre-local";

  private final ClientCalls calls;
  private Statistics localStatistics;
  private Mounted mounted;
  private Operations operations;
  private URI uri;
  private Path workingDirectory;

  MountedFileSystem(ClientCalls calls) {
    this.calls = requireNonNull(calls, "calls");
  }

  /** Marks the statistics of local reads in Hadoop's table, which goes by class. */
  private abstract static class LocalOst extends FileSystem {}

  @Override
  @SuppressWarnings("deprecation") // MapReduce makes its counters of these, and of nothing newer.
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    mounted = Mounted.configured(conf, System.getenv(), calls);
    operations = new Operations(
        statistics, this::shown, mounted.paths(), mounted.links(), mounted.faults());
    String authority = name.getAuthority();
    mounted.checkAuthority(authority);
    uri = URI.create(SCHEME + "://" + (authority == null ? "/" : authority));
    workingDirectory = getHomeDirectory();
    // Those that are in no table of Hadoop's nobody reads.
    localStatistics = LustreConf.LOCAL_COUNTER.get(conf)
        ? getStatistics(LOCAL_SCHEME, LocalOst.class) : new Statistics(LOCAL_SCHEME);
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  /** Returns null: whoever may use the mount needs no token. */
  @Override
  public String getCanonicalServiceName() {
    return null;
  }

  @Override
  public Path getWorkingDirectory() {
    return workingDirectory;
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    workingDirectory = fixRelativePart(directory);
  }

  @Override
  @SuppressWarnings("deprecation") // The other one calls it.
  public long getDefaultBlockSize() {
    return mounted.defaultBlockSize();
  }

  final Mounted mounted() {
    return mounted;
  }

  final Operations operations() {
    return operations;
  }

  /** Returns the statistics of bytes that were read from OSTs of the VM's own host. */
  final Statistics localStatistics() {
    return localStatistics;
  }

  /**
   * Returns a path as callers see it, with scheme and authority.
   *
   * @throws IllegalArgumentException if the path is of another file system
   */
  final Path shown(Path path) {
    checkPath(path);
    return makeQualified(path);
  }

  @Override
  public boolean supportsSymlinks() {
    return true;
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    switch (validatePathCapabilityArgs(makeQualified(path), capability)) {
      case CommonPathCapabilities.FS_APPEND:
      case CommonPathCapabilities.FS_PERMISSIONS:
      case CommonPathCapabilities.FS_TRUNCATE:
        return true;
      case CommonPathCapabilities.FS_SYMLINKS:
        return FileSystem.areSymlinksEnabled();
      default:
        return super.hasPathCapability(path, capability);
    }
  }
}
