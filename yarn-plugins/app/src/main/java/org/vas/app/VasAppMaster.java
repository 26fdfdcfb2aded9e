package org.vas.app;

import java.io.IOException;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.ipc.CallerContext;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.WarmListener;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.MRAppMaster;
import org.apache.hadoop.mapreduce.v2.app.StockShutdownHook;
import org.apache.hadoop.mapreduce.v2.app.TaskAttemptListener;
import org.apache.hadoop.mapreduce.v2.app.client.ClientService;
import org.apache.hadoop.mapreduce.v2.app.launcher.ContainerLauncher;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.AMPreemptionPolicy;
import org.apache.hadoop.mapreduce.v2.util.MRApps;
import org.apache.hadoop.mapreduce.v2.util.MRWebAppUtil;
import org.apache.hadoop.util.ExitUtil;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.YarnUncaughtExceptionHandler;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.apache.hadoop.yarn.api.ApplicationConstants.Environment;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The application master of a MapReduce job whose containers run one task after another.
 *
 * <p>The last word of {@code yarn.app.mapreduce.am.command-opts} names it. YARNRunner puts the name
 * of Hadoop's master behind those options, which so becomes an argument and is ignored: Apache
 * Uniffle and Apache Celeborn start their masters in the same way.
 */
public final class VasAppMaster extends MRAppMaster {
  private static final Logger LOG = LoggerFactory.getLogger(VasAppMaster.class);

  private Optional<WarmPool> pool = Optional.empty();
  private AMPreemptionPolicy preemption;
  private LateAllocator allocator;

  private VasAppMaster(ContainerId container, long submitted) {
    super(container.getApplicationAttemptId(), container, variable(Environment.NM_HOST.name()),
        Integer.parseInt(variable(Environment.NM_PORT.name())),
        Integer.parseInt(variable(Environment.NM_HTTP_PORT.name())), submitted);
  }

  public static void main(String[] arguments) {
    try {
      Thread.setDefaultUncaughtExceptionHandler(new YarnUncaughtExceptionHandler());
      JobConf job = new JobConf(new YarnConfiguration());
      job.addResource(new Path(MRJobConfig.JOB_CONF_FILE));
      ineffective(arguments).ifPresent(LOG::warn);
      Optional<String> refusal =
          refusal(job).or(() -> ReusePolicy.unknownHadoop(VersionInfo.getVersion()));
      if (refusal.isPresent()) {
        LOG.info("Each task has a container of its own: {}", refusal.get());
        MRAppMaster.main(arguments);
        return;
      }
      run(job);
    } catch (Throwable t) {
      LOG.error("Error starting VasAppMaster", t);
      ExitUtil.terminate(1, t);
    }
  }

  // What YARNRunner puts behind command-opts stands behind the name of this class: no option then.
  private static Optional<String> ineffective(String[] arguments) {
    List<String> options = Arrays.stream(arguments)
        .filter(each -> !each.isBlank() && !each.equals(MRAppMaster.class.getName()))
        .collect(Collectors.toList());
    return options.isEmpty() ? Optional.empty()
        : Optional.of("Without effect, as they stand behind " + VasAppMaster.class.getName() + ": "
            + String.join(" ", options) + "; write them into "
            + MRJobConfig.MR_AM_ADMIN_COMMAND_OPTS);
  }

  private static Optional<String> refusal(JobConf job) {
    try {
      java.nio.file.Path container = Paths.get(variable(Environment.PWD.name()));
      return ReusePolicy.refusal(job, InstalledClasses.ofThisJvm(container, job));
    } catch (IOException e) {
      return Optional.of("the job's files cannot be read: " + e);
    }
  }

  private static void run(JobConf job) throws Exception {
    ContainerId container = ContainerId.fromString(variable(Environment.CONTAINER_ID.name()));
    // As stock's main method does: logs of HDFS and YARN name who called.
    CallerContext.setCurrent(new CallerContext.Builder(
        "mr_appmaster_" + container.getApplicationAttemptId()).build());
    long submitted = Long.parseLong(variable(ApplicationConstants.APP_SUBMIT_TIME_ENV));
    VasAppMaster master = new VasAppMaster(container, submitted);
    ShutdownHookManager hooks = ShutdownHookManager.get();
    hooks.addShutdownHook(master::signalled, SHUTDOWN_HOOK_PRIORITY + 1);
    hooks.addShutdownHook(StockShutdownHook.of(master), SHUTDOWN_HOOK_PRIORITY);
    MRWebAppUtil.initialize(job);
    Optional.ofNullable(MRApps.getSystemPropertiesToLog(job)).ifPresent(LOG::info);
    String user = variable(Environment.USER.name());
    job.set(MRJobConfig.USER_NAME, user);
    initAndStartAppMaster(master, job, user);
  }

  private static String variable(String name) {
    String value = System.getenv(name);
    if (value == null) {
      throw new IllegalStateException(
          name + ": not set; YARN sets it where it starts an application master");
    }
    return value;
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    pool = Optional.of(new WarmPool(ReuseConf.MAX_TASKS.get(conf),
        ReuseConf.MAX_TIME.get(conf).toMillis(), Time::monotonicNow));
    super.serviceInit(conf);
  }

  @Override
  protected AMPreemptionPolicy createPreemptionPolicy(Configuration conf) {
    preemption = super.createPreemptionPolicy(conf);
    return preemption;
  }

  @Override
  protected ContainerAllocator createContainerAllocator(ClientService client, AppContext context) {
    allocator = new LateAllocator(
        () -> new WarmAllocator(client, context, preemption, pool.orElseThrow()));
    return allocator;
  }

  @Override
  protected ContainerLauncher createContainerLauncher(AppContext context) {
    return new WarmLauncher(context, pool.orElseThrow());
  }

  @Override
  protected TaskAttemptListener createTaskAttemptListener(
      AppContext context, AMPreemptionPolicy policy) {
    return new WarmListener(context, jobTokenSecretManager, getRMHeartbeatHandler(), policy,
        pool.orElseThrow());
  }

  @Override
  public void notifyIsLastAMRetry(boolean isLast) {
    if (allocator != null) {
      allocator.setShouldUnregister(isLast);
    }
    super.notifyIsLastAMRetry(isLast);
  }

  private void signalled() {
    if (allocator != null) {
      allocator.setSignalled();
    }
  }

  /** Ends the JVM, as MRAppMaster does where its own main method started it. */
  @Override
  public void shutDownJob() {
    super.shutDownJob();
    ExitUtil.ExitException asked = ExitUtil.getFirstExitException();
    Runtime.getRuntime().exit(asked == null ? 0 : asked.getExitCode());
  }
}
