package org.vas.shuffle.model;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.model.Step.Kind;
import org.vas.shuffle.node.RealDaemon;

/**
 * The histories of {@link ShuffleModelTest} on the node medium, with LocalCollector, NodeMerge and the
 * real daemon, which is killed now and then.
 */
@Tag("long")
@AddLifecycleHook(NodeShuffleModelTest.WithoutDaemon.class)
class NodeShuffleModelTest {
  /** Skips the histories where the daemon is not built: a property of skipped tries fails. */
  static final class WithoutDaemon implements SkipExecutionHook {
    @Override
    public SkipResult shouldBeSkipped(LifecycleContext context) {
      return RealDaemon.isBuilt()
          ? SkipResult.doNotSkip()
          : SkipResult.skip("vas-shuffled is not built");
    }
  }

  @Property(tries = 25)
  void anyHistoryEndsInTheRightInputOrAClearFailure(@ForAll("shapes") Shape shape,
      @ForAll("steps") List<Step> steps) throws Exception {
    run(shape, steps, "segments");
  }

  @Property(tries = 25)
  void anyHistoryEndsSoWhereTheDaemonMerges(@ForAll("openShapes") Shape shape,
      @ForAll("steps") List<Step> steps) throws Exception {
    run(shape, steps, "merged");
  }

  private static void run(Shape shape, List<Step> steps, String delivery) throws Exception {
    Path directory = Files.createTempDirectory("model");
    try (NodeModelMedium medium = new NodeModelMedium(directory, delivery)) {
      History history = new History(directory, shape, medium);
      for (Step step : steps) {
        history.take(step);
      }
      history.finish();
    } finally {
      SharedFileSystem.heal();
      Damage.removeAll(directory);
    }
  }

  @Provide
  Arbitrary<Shape> shapes() {
    return Combinators.combine(Arbitraries.integers().between(1, 3),
            Arbitraries.integers().between(1, 2), Arbitraries.just("packed"),
            Arbitraries.of("none", "DefaultCodec", "GzipCodec", "Lz4Codec"),
            Arbitraries.of(false, false, true), Arbitraries.of(false, false, false, true))
        .as(Shape::new);
  }

  /** Of encrypted map output the daemon gives segments. */
  @Provide
  Arbitrary<Shape> openShapes() {
    return Combinators.combine(Arbitraries.integers().between(1, 3),
            Arbitraries.integers().between(1, 2), Arbitraries.just("packed"),
            Arbitraries.of("none", "GzipCodec", "Lz4Codec"), Arbitraries.just(false),
            Arbitraries.of(false, false, false, true))
        .as(Shape::new);
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kinds = Arbitraries.frequency(Tuple.of(3, Kind.MAP),
        Tuple.of(1, Kind.MAPPER_THROWS), Tuple.of(1, Kind.MAP_DIES_PUBLISHED),
        Tuple.of(4, Kind.DAMAGE), Tuple.of(2, Kind.EVENT), Tuple.of(1, Kind.TIP_FAILED),
        Tuple.of(1, Kind.MASTER_RESTARTS), Tuple.of(3, Kind.REDUCE),
        Tuple.of(3, Kind.REDUCE_MEETS_DAMAGE), Tuple.of(1, Kind.REDUCE_MEETS_RESET),
        Tuple.of(1, Kind.DAEMON_KILLED), Tuple.of(2, Kind.REDUCE_MEETS_KILL));
    return Combinators.combine(kinds, Arbitraries.integers().between(0, 6),
        Arbitraries.integers().between(0, 20), Arbitraries.integers().between(1, 40))
        .as(Step::new).list().ofMaxSize(12);
  }
}
