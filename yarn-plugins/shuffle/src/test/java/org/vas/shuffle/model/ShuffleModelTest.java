package org.vas.shuffle.model;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.model.Step.Kind;

/**
 * Runs random histories of publish, read, retry and cleanup. A reduce gets exactly the records of
 * one live attempt of each map, in order, or its attempt fails with a path; nothing is left in the
 * end.
 */
class ShuffleModelTest {
  @Property(tries = 40)
  void anyHistoryEndsInTheRightInputOrAClearFailure(@ForAll("shapes") Shape shape,
      @ForAll("steps") List<Step> steps, @ForAll @IntRange(min = 1, max = 25) int lateCall)
      throws Exception {
    Path directory = Files.createTempDirectory("model");
    try {
      History history = new History(directory, shape);
      for (Step step : steps) {
        history.take(step);
      }
      history.finish();
      history.end(lateCall);
    } finally {
      SharedFileSystem.heal();
      Damage.removeAll(directory);
    }
  }

  /** Between looking for the job's directory and making one in it, too. */
  @Property(tries = 12, generation = GenerationMode.EXHAUSTIVE)
  void aJobThatEndsAtAnyCallLeavesNothing(@ForAll @IntRange(max = 11) int call) throws Exception {
    Path directory = Files.createTempDirectory("model");
    try {
      new History(directory, new Shape(1, 1, "packed", "none", false, false)).end(call);
    } finally {
      SharedFileSystem.heal();
      Damage.removeAll(directory);
    }
  }

  @Provide
  Arbitrary<Shape> shapes() {
    return Combinators.combine(Arbitraries.integers().between(1, 3),
            Arbitraries.integers().between(1, 2), Arbitraries.of("packed", "per-reducer"),
            Arbitraries.of("none", "DefaultCodec", "GzipCodec", "Lz4Codec"),
            Arbitraries.of(false, false, true), Arbitraries.of(false, false, false, true))
        .as(Shape::new);
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kinds = Arbitraries.frequency(Tuple.of(3, Kind.MAP),
        Tuple.of(1, Kind.MAPPER_THROWS), Tuple.of(2, Kind.MAP_ERRNO), Tuple.of(2, Kind.MAP_KILLED),
        Tuple.of(1, Kind.MAP_DIES_PUBLISHED), Tuple.of(4, Kind.DAMAGE), Tuple.of(2, Kind.EVENT),
        Tuple.of(1, Kind.TIP_FAILED), Tuple.of(1, Kind.MASTER_RESTARTS), Tuple.of(2, Kind.REDUCE),
        Tuple.of(2, Kind.REDUCE_ERRNO), Tuple.of(2, Kind.REDUCE_MEETS_DAMAGE),
        Tuple.of(1, Kind.REDUCE_MEETS_RESET));
    return Combinators.combine(kinds, Arbitraries.integers().between(0, 6),
        Arbitraries.integers().between(0, 20), Arbitraries.integers().between(1, 40))
        .as(Step::new).list().ofMaxSize(12);
  }
}
