package org.apache.hadoop.mapred;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.net.StandardSocketFactory;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/**
 * A warm JVM's connection to the application master, by which it asks, between two tasks, for
 * another one.
 */
final class AnotherTask implements AutoCloseable {
  private final TaskUmbilicalProtocol master;
  private final JVMId jvm;
  private final JobConf job;

  private AnotherTask(TaskUmbilicalProtocol master, JVMId jvm, JobConf job) {
    this.master = master;
    this.jvm = jvm;
    this.job = job;
  }

  /**
   * Connects to the master as YarnChild does: the job is the user, and its token the credential.
   *
   * @param arguments as YarnChild's: host and port of the master, the first attempt, the number of
   *     this JVM
   */
  static AnotherTask at(String[] arguments) throws IOException, InterruptedException {
    InetSocketAddress address =
        NetUtils.createSocketAddrForHost(arguments[0], Integer.parseInt(arguments[1]));
    TaskAttemptID first = TaskAttemptID.forName(arguments[2]);
    JVMId jvm = new JVMId(first.getJobID(), first.getTaskType() == TaskType.MAP,
        Long.parseLong(arguments[3]));
    Token<JobTokenIdentifier> token =
        TokenCache.getJobToken(UserGroupInformation.getCurrentUser().getCredentials());
    SecurityUtil.setTokenService(token, address);
    UserGroupInformation user =
        UserGroupInformation.createRemoteUser(first.getJobID().toString());
    user.addToken(token);
    // It holds Hadoop's defaults as well, as the client wrote it: no other file is read for them.
    JobConf job = new JobConf(false);
    job.addResource(new Path(MRJobConfig.JOB_CONF_FILE));
    TaskUmbilicalProtocol master = user.doAs(
        (PrivilegedExceptionAction<TaskUmbilicalProtocol>) () -> RPC.getProxy(
            TaskUmbilicalProtocol.class, TaskUmbilicalProtocol.versionID, address, job,
            new OwnSockets()));
    return new AnotherTask(master, jvm, job);
  }

  /**
   * Asks the master for another task.
   *
   * @return null when this JVM must wait; otherwise an order to end, or a task that is nothing but
   *     its name
   */
  JvmTask ask() throws IOException {
    return master.getTask(new JvmContext(jvm, WarmListener.ASKS_FOR_MORE));
  }

  /** Tells the master why this JVM ends, for the job's counters. */
  void tell(Unfit unfit) throws IOException {
    master.getTask(new JvmContext(jvm, WarmListener.IS_UNFIT + unfit.counter));
  }

  /** Returns the configuration of the job's job.xml, which no task has changed. */
  JobConf job() {
    return job;
  }

  @Override
  public void close() {
    RPC.stopProxy(master);
  }

  // Hadoop has one RPC client for each factory of sockets. As the only user of its client, a task
  // closes its connection when it ends; with this one's, the connection and the task's whole
  // configuration would stay for ipc.client.connection.maxidletime, 10 s.
  private static final class OwnSockets extends StandardSocketFactory {
    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }
}
