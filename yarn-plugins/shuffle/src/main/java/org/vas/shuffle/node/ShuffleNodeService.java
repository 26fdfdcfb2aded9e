package org.vas.shuffle.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.apache.hadoop.yarn.server.api.ContainerInitializationContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.filesystem.TreeRemover;

/**
 * The NodeManager's auxiliary service {@code vas_shuffle}: removes the map output of an application
 * that is over, where its application master did not. It also counts what reduce tasks read, in
 * metrics that outlive the tasks.
 *
 * <p>A NodeManager says "stopped" also of applications that live on elsewhere, when it is shut down
 * itself. So the ResourceManager is asked first; unless it says "over", nothing is touched.
 */
public class ShuffleNodeService extends AuxiliaryService {
  static final String NAME = "vas_shuffle";
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleNodeService.class);
  private static final int LONGEST_QUEUE = 10_000;
  private static final int STOP_SECONDS = 10;
  /** Levels of directories, as the janitor's: each holds a descriptor. */
  private static final int DEEPEST = 256;

  private final Applications applications;
  private final ConcurrentMap<ApplicationId, String> users = new ConcurrentHashMap<>();
  private NodeMetrics metrics;
  private Path stagingRoot;
  private ThreadPoolExecutor worker;
  private TaskReports reports;
  private boolean deniedBefore;

  /** Makes the service; called by the NodeManager, which finds the class by its name. */
  public ShuffleNodeService() {
    this(new Applications());
  }

  ShuffleNodeService(Applications applications) {
    super(NAME);
    this.applications = applications;
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    stagingRoot = StagingRoot.of(conf, System.getenv());
    metrics = NodeMetrics.register();
    String together = Executor.whyTasksShareAUser(conf);
    if (together != null) {
      LOG.warn("{}", together);
    }
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStart() throws Exception {
    // Lustre may hang: never in the NodeManager's own threads.
    worker = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(LONGEST_QUEUE), ShuffleNodeService::daemon,
        (task, executor) -> metrics.undecided());
    try {
      reports = TaskReports.open(getConfig(), metrics);
    } catch (IOException e) {
      LOG.warn("The reads of this node's reduce tasks are not counted in VasShuffle: {}", e.getMessage());
    }
    super.serviceStart();
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "vas-shuffle-cleanup");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  protected void serviceStop() throws Exception {
    if (worker != null) {
      worker.shutdown();
      if (!worker.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        worker.shutdownNow();
      }
    }
    if (reports != null) {
      reports.close();
    }
    applications.close();
    super.serviceStop();
  }

  /** Called only for jobs that name this service, and then without data. */
  @Override
  public void initializeApplication(ApplicationInitializationContext context) {
    users.put(context.getApplicationId(), context.getUser());
  }

  @Override
  public void initializeContainer(ContainerInitializationContext context) {
    users.put(context.getContainerId().getApplicationAttemptId().getApplicationId(),
        context.getUser());
  }

  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    ApplicationId application = context.getApplicationId();
    String user = users.remove(application);
    metrics.ended();
    if (user == null) {
      metrics.undecided();
    } else {
      worker.execute(() -> clean(application, user));
    }
  }

  @Override
  public ByteBuffer getMetaData() {
    return ByteBuffer.allocate(0);
  }

  private void clean(ApplicationId application, String user) {
    try {
      if (applications.isOver(application, getConfig())) {
        remove(application, user);
      } else {
        metrics.undecided();
      }
    } catch (Throwable e) {  // an Error that leaves this thread halts the NodeManager
      metrics.failed();
      report(application, e);
    }
  }

  private void remove(ApplicationId application, String user) throws IOException {
    TreeRemover remover = new TreeRemover(DEEPEST);
    try {
      remover.empty(stagingRoot, StagingRoot.shuffleOf(application, user));
      remover.stranger().ifPresent(stranger -> strange(application, user, stranger));
    } finally {
      metrics.removed(remover);
    }
  }

  private void strange(ApplicationId application, String user, String stranger) {
    metrics.failed();
    LOG.warn("{}: all its map output is removed except what is not its user's: {} in {} {}; it stays, with the"
        + " directories above it: find out who put it there, and remove it", application,
        String.join("/", StagingRoot.shuffleOf(application, user)), stagingRoot, stranger);
  }

  private void report(ApplicationId application, Throwable error) {
    if (!(error instanceof AccessDeniedException)) {
      LOG.warn("{}: its map output below {} is left to the janitor: {}",
          application, stagingRoot, error.toString());
    } else if (!deniedBefore) {
      deniedBefore = true;
      LOG.warn("{}: the NodeManager's user may not remove map output below {} ({}); it is left to"
          + " application masters and the janitor, and not mentioned again",
          application, stagingRoot, error.getMessage());
    }
  }
}
