package org.vas.app;

import java.util.function.Supplier;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocatorEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.RMHeartbeatHandler;
import org.apache.hadoop.service.AbstractService;
import org.apache.hadoop.service.ServiceOperations;

/**
 * Makes the allocator only when the master starts it: MRAppMaster asks for the allocator before it
 * has the preemption policy that an allocator is made with.
 */
final class LateAllocator extends AbstractService implements ContainerAllocator, RMHeartbeatHandler {
  private final Supplier<WarmAllocator> maker;
  private volatile WarmAllocator allocator;

  LateAllocator(Supplier<WarmAllocator> maker) {
    super(LateAllocator.class.getName());
    this.maker = maker;
  }

  @Override
  protected void serviceStart() throws Exception {
    allocator = maker.get();
    allocator.init(getConfig());
    allocator.start();
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    ServiceOperations.stop(allocator);
    super.serviceStop();
  }

  @Override
  public void handle(ContainerAllocatorEvent event) {
    allocator.handle(event);
  }

  @Override
  public long getLastHeartbeatTime() {
    return allocator.getLastHeartbeatTime();
  }

  @Override
  public void runOnNextHeartbeat(Runnable callback) {
    allocator.runOnNextHeartbeat(callback);
  }

  void setSignalled() {
    if (allocator != null) {
      allocator.setSignalled(true);
    }
  }

  void setShouldUnregister(boolean should) {
    if (allocator != null) {
      allocator.setShouldUnregister(should);
    }
  }
}
