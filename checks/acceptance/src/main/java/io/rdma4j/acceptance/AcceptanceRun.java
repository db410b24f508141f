package io.rdma4j.acceptance;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs acceptance tests one after the other and shows the progress on standard error. */
final class AcceptanceRun {
    private final Scale scale;
    private final Path folder;
    private final AcceptanceTable table;
    private final boolean terminal = Boolean.getBoolean("acceptance.terminal");
    private final boolean root = "root".equals(System.getProperty("user.name"));

    AcceptanceRun(Scale scale, Path folder, AcceptanceTable table) {
        this.scale = scale;
        this.folder = folder;
        this.table = table;
    }

    void run(List<AcceptanceTest> tests) throws IOException, InterruptedException {
        for (int i = 0; i < tests.size(); i++) {
            AcceptanceTest test = tests.get(i);
            String prefix = "[" + (i + 1) + "/" + tests.size() + "] ";
            show(prefix + test.title());
            long begin = System.nanoTime();
            Outcome outcome = run(test, text -> show(prefix + test.title() + (text == null ? "" : ": " + text)));
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
            table.add(test, scale, outcome, seconds);
            clear();
            System.err.println(
                    prefix + test.title() + ": " + outcome.verdict().name().toLowerCase(Locale.ROOT) + ", "
                            + outcome.measured() + " (" + seconds + " s)");
        }
    }

    @SuppressWarnings("try") // closing a stage may throw InterruptedException
    private Outcome run(AcceptanceTest test, TestStage.Progress progress) throws IOException, InterruptedException {
        if (test.needsRoot() && !root) {
            return Outcome.cannot("needs root");
        }
        Path prefix =
                folder.resolve("%02d-%s".formatted(test.number(), test.title().replaceAll("[^A-Za-z0-9]+", "-")));
        int limit = scale.of(test.quickSeconds(), test.fullSeconds());
        CompletableFuture<Outcome> ended = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().daemon().name("test").start(() -> {
            try (TestStage stage = new TestStage(scale, Duration.ofSeconds(limit), prefix, progress)) {
                ended.complete(test.body().run(stage));
            } catch (Throwable failure) {
                ended.completeExceptionally(failure);
            }
        });
        try {
            return ended.get(limit, TimeUnit.SECONDS);
        } catch (ExecutionException failure) {
            return failed(prefix, failure.getCause());
        } catch (TimeoutException _) {
            thread.interrupt();
            thread.join(TimeUnit.SECONDS.toMillis(20));
            return Outcome.failed("not done in " + limit + " s");
        } finally {
            thread.join(TimeUnit.SECONDS.toMillis(20));
        }
    }

    private static Outcome failed(Path prefix, @Nullable Throwable failure) throws IOException {
        Files.createDirectories(prefix);
        if (failure != null) {
            try (PrintWriter writer =
                    new PrintWriter(prefix.resolve("failure.txt").toFile(), StandardCharsets.UTF_8)) {
                failure.printStackTrace(writer);
            }
        }
        return Outcome.failed(String.valueOf(failure == null ? null : failure.getMessage()));
    }

    private void show(String text) {
        if (terminal) {
            System.err.print("\r\033[K" + text);
            System.err.flush();
        }
    }

    private void clear() {
        if (terminal) {
            System.err.print("\r\033[K");
        }
    }
}
