package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.conf.ConfKey;
import org.vas.layout.LayoutRequest;

/** Decides the layout of a new file from its path and block size. */
final class LayoutPolicy {
  private static final Logger LOG = LoggerFactory.getLogger(LayoutPolicy.class);
  private static final long STEP = 64 << 10;
  private static final long LARGEST = (1L << 32) - STEP;

  private final long defaultBlockSize;
  private final int stripeCount;
  private final boolean progressive;
  private final String pool;
  private final Pattern privatePaths;
  private final Pattern domPaths;
  private final long domSize;
  private final Supplier<List<Integer>> localOsts;

  /**
   * Reads the configuration.
   *
   * @param localOsts gives the indices of the OSTs that this machine's host serves
   * @throws IOException that names the key, if Lustre would refuse its value
   * @throws IllegalArgumentException that names the key, if its value is out of bounds
   */
  LayoutPolicy(Configuration conf, Supplier<List<Integer>> localOsts) throws IOException {
    this.defaultBlockSize = LustreConf.BLOCK_SIZE.get(conf);
    this.stripeCount = LustreConf.STRIPE_COUNT.get(conf);
    this.progressive = LustreConf.PROGRESSIVE.get(conf);
    this.pool = LustreConf.POOL.get(conf);
    this.privatePaths = pattern(LustreConf.PRIVATE_PATHS, conf);
    this.domPaths = pattern(LustreConf.DOM_PATHS, conf);
    this.domSize = LustreConf.DOM_SIZE.get(conf);
    this.localOsts = requireNonNull(localOsts, "localOsts");
    checkStep(LustreConf.BLOCK_SIZE, defaultBlockSize);
    checkStep(LustreConf.DOM_SIZE, domSize);
    checkPool();
  }

  long defaultBlockSize() {
    return defaultBlockSize;
  }

  /**
   * Returns the layouts to try for a new file, the best first; none when its directory is to
   * decide. A private file has a second one on any OST, so that it is written at all; a file whose
   * first bytes are to lie on its MDT has a second one without that.
   *
   * @param path within the file system
   * @param blockSize bytes, rounded up to what Lustre can do; not positive means the default
   * @throws IOException if the block is larger than Lustre's largest stripe
   */
  List<LayoutRequest> layoutsFor(String path, long blockSize) throws IOException {
    List<LayoutRequest> layouts = onOsts(path, stripeSize(path, blockSize));
    if (layouts.isEmpty() || !domPaths.matcher(path).matches()) {
      return layouts;
    }
    List<LayoutRequest> all = new ArrayList<>(layouts);
    all.add(0, layouts.get(0).onMdt(domSize));
    return all;
  }

  private List<LayoutRequest> onOsts(String path, long stripeSize) {
    Optional<Integer> local = localOst(path);
    if (local.isPresent()) {
      LayoutRequest one = LayoutRequest.stripes(stripeSize, 1);
      return List.of(one.startingAt(local.get()), inPool(one));
    }
    return stripeCount == 0 ? List.of() : List.of(inPool(shared(stripeSize)));
  }

  // Most files are shorter than a block, and an object on each OST would make them need them all.
  private LayoutRequest shared(long stripeSize) {
    LayoutRequest wide = LayoutRequest.stripes(stripeSize, stripeCount);
    return progressive && stripeCount != 1 ? wide.onOne(stripeSize) : wide;
  }

  private LayoutRequest inPool(LayoutRequest request) {
    return pool.isEmpty() ? request : request.pool(pool);
  }

  private long stripeSize(String path, long blockSize) throws IOException {
    if (blockSize <= 0) {
      return defaultBlockSize;
    }
    if (blockSize > LARGEST) {
      throw new IOException(path + ": block size " + blockSize
          + " is larger than Lustre's largest stripe; use at most " + LARGEST);
    }
    long rounded = (blockSize + STEP - 1) / STEP * STEP;
    if (rounded != blockSize) {
      LOG.info("{}: block size {} rounded up to {}, a multiple of 64 KiB", path, blockSize,
          rounded);
    }
    return rounded;
  }

  // A host with several OSTs shares its private files out by their names.
  private Optional<Integer> localOst(String path) {
    if (!privatePaths.matcher(path).matches()) {
      return Optional.empty();
    }
    List<Integer> osts = localOsts.get();
    return osts.isEmpty()
        ? Optional.empty()
        : Optional.of(osts.get(Math.floorMod(path.hashCode(), osts.size())));
  }

  private static void checkStep(ConfKey<Long> key, long bytes) throws IOException {
    if (bytes % STEP != 0) {
      throw new IOException(key.name() + ": " + bytes
          + " is not a multiple of 64 KiB; Lustre has no such stripe size");
    }
  }

  private void checkPool() throws IOException {
    try {
      if (!pool.isEmpty()) {
        LayoutRequest.stripes(STEP, 1).pool(pool);
      }
    } catch (IllegalArgumentException e) {
      throw new IOException(LustreConf.POOL.name() + ": " + e.getMessage(), e);
    }
  }

  /**
   * Returns the regular expression that a key has as its value.
   *
   * @throws IOException that names the key, if the value is not a regular expression
   */
  static Pattern pattern(ConfKey<String> key, Configuration conf) throws IOException {
    String expression = key.get(conf);
    try {
      return Pattern.compile(expression);
    } catch (PatternSyntaxException e) {
      throw new IOException(key.name() + ": '" + expression
          + "' is not a regular expression: " + e.getDescription(), e);
    }
  }
}
