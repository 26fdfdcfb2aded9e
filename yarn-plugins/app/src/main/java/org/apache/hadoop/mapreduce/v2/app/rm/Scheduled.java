package org.apache.hadoop.mapreduce.v2.app.rm;

/** Tells what Hadoop's allocator has asked YARN for, which only this package can see. */
public final class Scheduled {
  private Scheduled() {}

  /** Returns how many reduces wait for a container; those that are held back do not count. */
  public static int reduces(RMContainerAllocator allocator) {
    return allocator.getScheduledRequests().reduces.size();
  }
}
