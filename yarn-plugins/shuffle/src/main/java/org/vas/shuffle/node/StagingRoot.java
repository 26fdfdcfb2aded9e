package org.vas.shuffle.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.vas.conf.LayoutConf;
import org.vas.filesystem.LustreConf;
import org.vas.filesystem.PredictableNames;
import org.vas.site.ClusterMap;
import org.vas.site.ClusterMapException;

/** Finds {@code yarn.app.mapreduce.am.staging-dir} as a directory of this machine. */
final class StagingRoot {
  private static final String KEY = MRJobConfig.MR_AM_STAGING_DIR;

  private StagingRoot() {}

  /**
   * Returns the staging directory of all users as a path of this machine.
   *
   * @throws IOException with one line that names the key and the fix, if it is not on Lustre
   */
  static Path of(Configuration conf, Map<String, String> environment) throws IOException {
    // A JobConf reads mapred-site.xml too, where a site sets the key.
    String staging = new JobConf(conf).getTrimmed(KEY, MRJobConfig.DEFAULT_MR_AM_STAGING_DIR);
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(staging);
    String scheme = path.toUri().getScheme() == null
        ? FileSystem.getDefaultUri(conf).getScheme() : path.toUri().getScheme();
    Path local = Path.of("/", path.toUri().getPath()).normalize();
    switch (scheme) {
      case "file":
        return local;
      case "lustre":
        return mount(conf, environment).resolve(Path.of("/").relativize(local));
      default:
        throw new IOException(KEY + ": '" + staging + "' is not on Lustre; name a lustre:/// path");
    }
  }

  /** Returns the names below the root that lead to an application's map output. */
  static List<String> shuffleOf(ApplicationId application, String user) {
    String job =
        new JobID(Long.toString(application.getClusterTimestamp()), application.getId()).toString();
    return List.of(user, PredictableNames.STAGING, job, PredictableNames.SHUFFLE);
  }

  private static Path mount(Configuration conf, Map<String, String> environment)
      throws IOException {
    String mount = LustreConf.MOUNT.get(conf);
    try {
      return mount.isEmpty()
          ? ClusterMap.load(LayoutConf.clusterFile(conf, environment)).mount() : Path.of(mount);
    } catch (ClusterMapException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
