package org.vas.shuffle.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.hadoop.io.DataInputByteBuffer;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hadoop's auxiliary service {@code mapreduce_shuffle}, which also starts {@code vas-shuffled} and
 * tells it each job's shuffle secret. The application master sends that secret to no other service.
 * Set {@code yarn.nodemanager.aux-services.mapreduce_shuffle.class} to it. Jobs without NodeMerge
 * see Hadoop's service alone, and it works on when the daemon does not.
 */
public class DaemonShuffleHandler extends ShuffleHandler {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonShuffleHandler.class);

  private volatile DaemonProcess daemon;

  @Override
  protected void serviceStart() throws Exception {
    super.serviceStart();
    try {
      // A JobConf reads mapred-site.xml too, where a site demands TLS.
      JobConf conf = new JobConf(getConfig());
      DaemonCommand.checkTls(conf);
      Optional<Path> recovery = Optional.ofNullable(getRecoveryPath())
          .map(directory -> Path.of(directory.toUri().getPath(), "vas_shuffled"));
      DaemonProcess started = new DaemonProcess(conf, recovery);
      started.start();
      daemon = started;
    } catch (IOException | RuntimeException e) {
      LOG.error("vas-shuffled is not started, so reducers with NodeMerge fail on this node: {}",
          e.getMessage());
    }
  }

  @Override
  protected void serviceStop() throws Exception {
    if (daemon != null) {
      daemon.close();
    }
    super.serviceStop();
  }

  @Override
  public void initializeApplication(ApplicationInitializationContext context) {
    ApplicationId application = context.getApplicationId();
    ByteBuffer data = context.getApplicationDataForService().duplicate();
    super.initializeApplication(context);
    if (daemon == null) {
      return;
    }
    try {
      Token<JobTokenIdentifier> token = new Token<>();
      DataInputByteBuffer in = new DataInputByteBuffer();
      in.reset(data);
      token.readFields(in);
      daemon.add(application, context.getUser(), token.getPassword());
    } catch (IOException | RuntimeException e) {
      // Stock's service has the job: its reducers without NodeMerge must not fail by this.
      LOG.error("{}: not told to vas-shuffled, so reducers with NodeMerge fail on this node: {}",
          application, e.toString());
    }
  }

  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    super.stopApplication(context);
    if (daemon != null) {
      daemon.remove(context.getApplicationId());
    }
  }
}
