package org.apache.hadoop.mapreduce.v2.app;

/** Gives out the shutdown hook of MRAppMaster, which only this package can make. */
public final class StockShutdownHook {
  private StockShutdownHook() {}

  public static Runnable of(MRAppMaster master) {
    return new MRAppMaster.MRAppMasterShutdownHook(master);
  }
}
