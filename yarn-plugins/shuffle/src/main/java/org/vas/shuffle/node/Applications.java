package org.vas.shuffle.node;

import java.io.Closeable;
import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the ResourceManager about the state of applications. Used by one thread. */
class Applications implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Applications.class);
  private static final EnumSet<YarnApplicationState> OVER = EnumSet.of(
      YarnApplicationState.FINISHED, YarnApplicationState.FAILED, YarnApplicationState.KILLED);

  private ApplicationClientProtocol resourceManager;

  /** Returns whether the application has ended; false also when that is not known. */
  boolean isOver(ApplicationId application, Configuration conf) {
    try {
      if (resourceManager == null) {
        resourceManager = connect(conf);
      }
      return OVER.contains(resourceManager
          .getApplicationReport(GetApplicationReportRequest.newInstance(application))
          .getApplicationReport().getYarnApplicationState());
    } catch (IOException | YarnException | RuntimeException e) {
      LOG.info("{}: not known to be over, its map output is left to the janitor: {}",
          application, e.toString());
      return false;
    }
  }

  /** Returns the ResourceManager that the configuration names. */
  ApplicationClientProtocol connect(Configuration conf) throws IOException {
    return ClientRMProxy.createRMProxy(conf, ApplicationClientProtocol.class);
  }

  @Override
  public void close() {
    if (resourceManager != null) {
      RPC.stopProxy(resourceManager);
    }
  }
}
