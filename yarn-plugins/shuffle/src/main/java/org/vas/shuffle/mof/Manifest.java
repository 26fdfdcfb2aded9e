package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.stream.Collectors;

/** A description of what a map attempt published: its files and their segments. Immutable. */
public final class Manifest {
  private final String attempt;
  private final String host;
  private final boolean compressed;
  private final boolean encrypted;
  private final int partitions;
  private final int runs;
  private final List<MofFile> files;
  private final List<Segment> segments;

  private Manifest(Builder builder) {
    this.attempt = requireNonNull(builder.attempt, "attempt");
    this.host = requireNonNull(builder.host, "host");
    this.compressed = builder.compressed;
    this.encrypted = builder.encrypted;
    this.partitions = builder.partitions;
    this.runs = builder.runs;
    this.files = List.copyOf(builder.files);
    this.segments = List.copyOf(builder.segments);
    ManifestRules.check(this);
  }

  private Manifest(Manifest whole, List<Segment> part) {
    this.attempt = whole.attempt;
    this.host = whole.host;
    this.compressed = whole.compressed;
    this.encrypted = whole.encrypted;
    this.partitions = whole.partitions;
    this.runs = whole.runs;
    this.files = whole.files;
    this.segments = List.copyOf(part);
  }

  /** Returns a builder for the manifest of an attempt, as {@code attempt_1_0001_m_000000_0}. */
  public static Builder of(String attempt) {
    return new Builder(attempt);
  }

  public String attempt() {
    return attempt;
  }

  /** Returns the name of the machine that wrote the output. */
  public String host() {
    return host;
  }

  public boolean compressed() {
    return compressed;
  }

  public boolean encrypted() {
    return encrypted;
  }

  /** Returns the job's number of reducers. */
  public int partitions() {
    return partitions;
  }

  public int runs() {
    return runs;
  }

  public List<MofFile> files() {
    return files;
  }

  /** Returns all segments, by partition, then run. */
  public List<Segment> segments() {
    return segments;
  }

  /** Returns the segments of one partition in order of runs; empty if no record went there. */
  public List<Segment> segments(int partition) {
    return segments.stream().filter(s -> s.partition() == partition).collect(Collectors.toList());
  }

  /** Returns the manifest with one partition's segments only, without checking it again. */
  Manifest only(int partition) {
    return new Manifest(this, segments(partition));
  }

  /** Builds a manifest from what a map attempt wrote. */
  public static final class Builder {
    private final String attempt;
    private String host = "";
    private boolean compressed;
    private boolean encrypted;
    private int partitions;
    private int runs;
    private List<MofFile> files = List.of();
    private List<Segment> segments = List.of();

    private Builder(String attempt) {
      this.attempt = attempt;
    }

    public Builder host(String name) {
      this.host = name;
      return this;
    }

    public Builder compressed(boolean value) {
      this.compressed = value;
      return this;
    }

    public Builder encrypted(boolean value) {
      this.encrypted = value;
      return this;
    }

    public Builder partitions(int count) {
      this.partitions = count;
      return this;
    }

    public Builder runs(int count) {
      this.runs = count;
      return this;
    }

    public Builder files(List<MofFile> list) {
      this.files = list;
      return this;
    }

    /** Sets all segments, ordered by partition, then run. */
    public Builder segments(List<Segment> list) {
      this.segments = list;
      return this;
    }

    /**
     * Returns the manifest.
     *
     * @throws IllegalArgumentException that says what does not add up
     */
    public Manifest build() {
      return new Manifest(this);
    }
  }
}
