package io.rdma4j.testkit.variant;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Looks for a seed whose run finds what is wrong with a variant. */
public final class Hunt {
    private Hunt() {}

    /**
     * How a hunt ended.
     *
     * @param isCaught whether some run failed, or did not end
     * @param seeds how many seeds were run, the failing one included
     * @param message what the failing run said
     */
    public record Result(boolean isCaught, long seeds, String message) {}

    /**
     * Runs the seeds from 0 on, until one fails.
     *
     * @param mostSeeds how many to try
     * @param limitSeconds after which a run that does not end counts as a failure; its thread is left alone
     * @throws IOException if the mutant cannot be compiled for want of files
     * @throws ReflectiveOperationException if there is no such simulation
     */
    public static Result mutant(Mutant mutant, Path scratch, long mostSeeds, int limitSeconds)
            throws IOException, ReflectiveOperationException, InterruptedException {
        try (Variant variant = build(mutant, scratch)) {
            return run(variant.simulation(mutant.simulation()), mostSeeds, limitSeconds);
        }
    }

    private static Variant build(Mutant mutant, Path scratch) throws IOException {
        if (mutant.withSmallNumbers()) {
            return Variant.ofSmallNumbers(List.of(mutant.substitution()), scratch);
        }
        return Variant.ofChanged(List.of(mutant.substitution()), scratch);
    }

    /** Runs the seeds from 0 on with a simulation, until one fails. */
    public static Result run(Variant.Run simulation, long mostSeeds, int limitSeconds) throws InterruptedException {
        CompletableFuture<Result> result = new CompletableFuture<>();
        AtomicBoolean isOver = new AtomicBoolean();
        Thread.ofPlatform().daemon().name("hunt").start(() -> result.complete(search(simulation, mostSeeds, isOver)));
        try {
            return result.get(limitSeconds, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            isOver.set(true);
            return new Result(true, mostSeeds, "not over after " + limitSeconds + " seconds");
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private static Result search(Variant.Run simulation, long mostSeeds, AtomicBoolean isOver) {
        for (long seed = 0; seed < mostSeeds && !isOver.get(); seed++) {
            try {
                simulation.run(seed);
            } catch (Throwable found) { // whatever it is: a failure of the oracle, or of the mutant itself
                return new Result(true, seed + 1, String.valueOf(found.getMessage()));
            }
        }
        return new Result(false, mostSeeds, "nothing found");
    }
}
