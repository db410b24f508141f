package io.rdma4j.conformance.run;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Counts the results of tests by class. An aborted test needs a feature that the device or the host lacks. */
final class Results implements TestExecutionListener {
    private static final String ROOT = "io.rdma4j.conformance.";

    /** The counts of a class. */
    private static final class Row {
        int passed;
        int failed;
        int lacks;
        long started = System.nanoTime();
        long nanos;
    }

    private final Map<String, Row> rows = new TreeMap<>();
    private final Map<String, Integer> lacks = new LinkedHashMap<>();
    private final List<String> failures = new ArrayList<>();
    private final @Nullable PrintStream progress;
    private @Nullable TestPlan plan;
    private long testStarted;

    /** Counts results, and prints each test when it starts and when it has ended, unless {@code progress} is null. */
    Results(@Nullable PrintStream progress) {
        this.progress = progress;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.getSource().orElse(null) instanceof ClassSource source) {
            row(source.getClassName()).started = System.nanoTime();
        }
        if (progress != null && test.isTest()) {
            testStarted = System.nanoTime();
            progress.printf("  %s ...%n", title(test));
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        if (className(test) != null) {
            lacking(test, reason);
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        String name = className(test);
        if (name == null) {
            return;
        }
        if (test.getSource().orElse(null) instanceof ClassSource) {
            row(name).nanos = System.nanoTime() - row(name).started;
        }
        printProgress(test, result);
        Throwable cause = result.getThrowable().orElse(null);
        switch (result.getStatus()) {
            case SUCCESSFUL -> row(name).passed += test.isTest() ? 1 : 0;
            case ABORTED -> lacking(test, cause == null ? "" : String.valueOf(cause.getMessage()));
            case FAILED -> {
                row(name).failed++;
                failures.add("%s: %s".formatted(title(test), cause));
            }
        }
    }

    private void printProgress(TestIdentifier test, TestExecutionResult result) {
        if (progress == null) {
            return;
        }
        if (test.isTest()) {
            progress.printf(
                    "  %s: %s, %.1f s%n", title(test), result.getStatus(), seconds(System.nanoTime() - testStarted));
        }
        if (result.getStatus() == TestExecutionResult.Status.FAILED) {
            result.getThrowable().ifPresent(cause -> cause.printStackTrace(progress));
        }
    }

    private String title(TestIdentifier test) {
        return shortName(Objects.requireNonNull(className(test))) + "." + test.getLegacyReportingName();
    }

    private void lacking(TestIdentifier test, String reason) {
        row(Objects.requireNonNull(className(test))).lacks++;
        lacks.merge(reason.replaceFirst("^Assumption failed: ", ""), 1, Integer::sum);
    }

    /** Returns the name of the class to which a test or container belongs, or null if it is above the classes. */
    private @Nullable String className(TestIdentifier test) {
        TestIdentifier each = test;
        while (true) {
            switch (each.getSource().orElse(null)) {
                case ClassSource source -> {
                    return source.getClassName();
                }
                case MethodSource source -> {
                    return source.getClassName();
                }
                case null, default -> {
                    var parent = Objects.requireNonNull(plan).getParent(each);
                    if (parent.isEmpty()) {
                        return null;
                    }
                    each = parent.get();
                }
            }
        }
    }

    private Row row(String className) {
        return rows.computeIfAbsent(className, name -> new Row());
    }

    private static String shortName(String className) {
        return className.startsWith(ROOT) ? className.substring(ROOT.length()) : className;
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    boolean hasFailed() {
        return !failures.isEmpty();
    }

    /** Prints a row for each class, then the missing features, then the failures. */
    void print(String device, PrintStream out) {
        Row all = new Row();
        out.printf("%-42s %7s %7s %7s %8s%n", "class", "passed", "failed", "lacks", "seconds");
        rows.forEach((name, row) -> {
            print(shortName(name), row, out);
            all.passed += row.passed;
            all.failed += row.failed;
            all.lacks += row.lacks;
            all.nanos += row.nanos;
        });
        print("all of " + device, all, out);
        lacks.forEach((reason, count) -> out.printf("lacks: %s: %d tests%n", reason, count));
        failures.forEach(failure -> out.println("failed: " + failure));
    }

    private static void print(String title, Row row, PrintStream out) {
        out.printf("%-42s %7d %7d %7d %8.1f%n", title, row.passed, row.failed, row.lacks, seconds(row.nanos));
    }

    private static double seconds(long nanos) {
        return nanos / (double) TimeUnit.SECONDS.toNanos(1);
    }
}
