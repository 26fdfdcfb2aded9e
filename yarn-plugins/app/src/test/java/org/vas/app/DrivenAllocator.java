package org.vas.app;

import org.apache.hadoop.mapreduce.v2.app.rm.preemption.NoopAMPreemptionPolicy;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;

/** An allocator whose heartbeats and rounds happen only when a test calls {@code beat}. */
final class DrivenAllocator extends WarmAllocator {
  private final AnsweringYarn yarn;

  DrivenAllocator(AnsweringYarn yarn, WarmPool pool) {
    super(null, yarn.context(), new NoopAMPreemptionPolicy(), pool);
    this.yarn = yarn;
  }

  @Override
  protected ApplicationMasterProtocol createSchedulerProxy() {
    return yarn;
  }

  @Override
  protected void startAllocatorThread() {}

  @Override
  protected void startRounds() {}

  @Override
  public void containerFailedOnHost(String host) {
    super.containerFailedOnHost(host);
  }

  void beat() throws Exception {
    heartbeat();
  }
}
