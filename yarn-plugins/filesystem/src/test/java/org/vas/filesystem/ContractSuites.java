package org.vas.filesystem;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import org.junit.platform.launcher.listeners.TestExecutionSummary.Failure;

/**
 * {@code ContractSuites [SUITE...]}: runs Hadoop's contract suites in this process, by the names of
 * our classes without "ContractTest"; all of them by default. The system property {@code
 * vas.tests.mounts} names the directory that they write into.
 *
 * <p>Prints numbers and failures as one line of JSON, the last one.
 */
final class ContractSuites {
  private static final List<Class<?>> ALL = List.of(LustreContractTest.class,
      FileSystemContractTest.class, FileContextContractTest.class, SymlinkContractTest.class);

  private ContractSuites() {}

  public static void main(String[] names) throws Exception {
    LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
        .selectors(ALL.stream().filter(suite -> names.length == 0 || isNamed(suite, names))
            .map(suite -> selectClass(suite)).collect(Collectors.toList()))
        .build();
    Counting counting = new Counting();
    LauncherFactory.create().execute(request, counting);
    TestExecutionSummary summary = counting.getSummary();
    Map<String, Object> told = Map.of(
        "found", summary.getTestsFoundCount(), "passed", summary.getTestsSucceededCount(),
        "aborted", summary.getTestsAbortedCount() + summary.getTestsSkippedCount(),
        "failed", summary.getTestsFailedCount(),
        "failures", summary.getFailures().stream().map(counting::told).collect(Collectors.toList()));
    System.out.println(new ObjectMapper().writeValueAsString(told));
    // Suites leave threads behind.
    System.exit(0);
  }

  private static boolean isNamed(Class<?> suite, String[] names) {
    return List.of(names).contains(suite.getSimpleName().replace("ContractTest", ""));
  }

  private static final class Counting extends SummaryGeneratingListener {
    private TestPlan plan;

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
      plan = started;
      super.testPlanExecutionStarted(started);
    }

    Map<String, String> told(Failure failure) {
      Deque<String> path = new ArrayDeque<>();
      Optional<TestIdentifier> at = Optional.of(failure.getTestIdentifier());
      while (at.isPresent() && at.get().getParentIdObject().map(Counting::isTest).orElse(false)) {
        path.addFirst(at.get().getDisplayName());
        at = plan.getParent(at.get());
      }
      return Map.of("test", String.join(" > ", path), "what", String.valueOf(failure.getException()));
    }

    private static boolean isTest(UniqueId parent) {
      return !parent.getSegments().isEmpty();
    }
  }
}
