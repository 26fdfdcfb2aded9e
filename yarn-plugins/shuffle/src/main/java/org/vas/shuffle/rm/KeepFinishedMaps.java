package org.vas.shuffle.rm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceContext;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceProcessor;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the finished maps of lost nodes: a class for {@code
 * yarn.resourcemanager.application-master-service.processors}. An application with the tag {@link
 * #TAG} is not told which nodes became unusable.
 *
 * <p>MapReduce's application master runs the finished maps of such a node again, because stock map
 * output lies on the node. VAS's lies on Lustre. Attempts that ran there when the node was lost
 * still end: by their containers' status, which comes in the same heartbeat.
 */
public class KeepFinishedMaps implements ApplicationMasterServiceProcessor {
  /**
   * A tag in {@code mapreduce.job.tags}: the map output of this job outlives the loss of its node.
   */
  public static final String TAG = "vas-shuffle";

  private static final Logger LOG = LoggerFactory.getLogger(KeepFinishedMaps.class);

  private ApplicationMasterServiceProcessor next;
  private RMContext rm;
  private final AtomicBoolean mentioned = new AtomicBoolean();

  @Override
  public void init(
      ApplicationMasterServiceContext context, ApplicationMasterServiceProcessor nextProcessor) {
    next = nextProcessor;
    rm = (RMContext) context;
  }

  @Override
  public void registerApplicationMaster(ApplicationAttemptId attempt,
      RegisterApplicationMasterRequest request, RegisterApplicationMasterResponse response)
      throws IOException, YarnException {
    next.registerApplicationMaster(attempt, request, response);
  }

  @Override
  public void allocate(ApplicationAttemptId attempt, AllocateRequest request,
      AllocateResponse response) throws YarnException {
    next.allocate(attempt, request, response);
    List<NodeReport> nodes = response.getUpdatedNodes();
    try {
      if (nodes != null && !nodes.isEmpty() && keepsMaps(attempt)) {
        response.setUpdatedNodes(withoutUnusable(attempt, nodes));
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      failed(attempt, e);
    }
  }

  // The heartbeat goes on as stock's: the finished maps of a lost node run again.
  private void failed(ApplicationAttemptId attempt, Throwable error) {
    if (mentioned.compareAndSet(false, true)) {
      LOG.error("{}: finished maps of lost nodes run again, here and wherever this happens; not"
          + " mentioned again", attempt, error);
    }
  }

  @Override
  public void finishApplicationMaster(ApplicationAttemptId attempt,
      FinishApplicationMasterRequest request, FinishApplicationMasterResponse response) {
    next.finishApplicationMaster(attempt, request, response);
  }

  private boolean keepsMaps(ApplicationAttemptId attempt) {
    RMApp app = rm.getRMApps().get(attempt.getApplicationId());
    return app != null && app.getApplicationTags().contains(TAG);
  }

  private static List<NodeReport> withoutUnusable(
      ApplicationAttemptId attempt, List<NodeReport> nodes) {
    List<NodeReport> usable = new ArrayList<>();
    for (NodeReport node : nodes) {
      if (node.getNodeState().isUnusable()) {
        LOG.info("{}: keeps its finished maps of {}, which is {}",
            attempt, node.getNodeId(), node.getNodeState());
      } else {
        usable.add(node);
      }
    }
    return usable;
  }
}
