package org.apache.spark.shuffle.vas;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;

/** Some neighbouring partitions of a map output, read and verified when a stream is made of them. */
final class VerifiedBuffer extends ManagedBuffer {
  private final MapFiles map;
  private final BlockPlan plan;

  VerifiedBuffer(MapFiles map, BlockPlan plan) {
    this.map = map;
    this.plan = plan;
  }

  @Override
  public long size() {
    return plan.bytes();
  }

  /** Returns a stream that opens the file later: Spark's fetcher takes no error here. */
  @Override
  public InputStream createInputStream() {
    return new VerifiedStream(map, plan);
  }

  @Override
  public ByteBuffer nioByteBuffer() throws IOException {
    try (InputStream in = createInputStream()) {
      return ByteBuffer.wrap(in.readNBytes(Math.toIntExact(size())));
    }
  }

  @Override
  public ManagedBuffer retain() {
    return this;
  }

  @Override
  public ManagedBuffer release() {
    return this;
  }

  @Override
  public Object convertToNetty() throws IOException {
    return Unpooled.wrappedBuffer(nioByteBuffer());
  }

  @Override
  public Object convertToNettyForSsl() throws IOException {
    return convertToNetty();
  }
}
