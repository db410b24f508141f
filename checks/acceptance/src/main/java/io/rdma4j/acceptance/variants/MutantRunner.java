package io.rdma4j.acceptance.variants;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Searches for a seed whose run detects the mistake of a mutant. */
public final class MutantRunner {
    private MutantRunner() {}

    /** The outcome of a search. */
    public enum Verdict {
        /** A run failed. */
        CAUGHT,
        /** All runs succeeded. */
        NOTHING_FOUND,
        /** A run did not finish in time. The machine or the mutant may be the reason, so this proves nothing. */
        NOT_FINISHED
    }

    /**
     * The result of a search.
     *
     * @param verdict the outcome
     * @param seeds the number of seeds that were run, including the last one
     * @param message the message of the failed run
     */
    public record Result(Verdict verdict, long seeds, String message) {
        /** Returns whether a run failed. */
        public boolean isCaught() {
            return verdict == Verdict.CAUGHT;
        }

        /** Returns whether a run did not finish, so that the search is inconclusive. */
        public boolean isUnfinished() {
            return verdict == Verdict.NOT_FINISHED;
        }
    }

    /**
     * Builds a mutant and runs its simulation with the seeds from 0 until one fails.
     *
     * @param scratch an empty folder for the compiled classes
     * @param maxSeeds the number of seeds to try
     * @param limitSeconds time after which the search ends if no seed has finished; the thread of the unfinished run is
     *     abandoned
     * @throws IOException if the sources cannot be read or the classes cannot be written
     * @throws ReflectiveOperationException if there is no such simulation
     */
    public static Result mutant(Mutant mutant, Path scratch, long maxSeeds, int limitSeconds)
            throws IOException, ReflectiveOperationException, InterruptedException {
        try (Variant variant = build(mutant, scratch)) {
            return run(variant.simulation(mutant.simulation()), maxSeeds, limitSeconds);
        }
    }

    private static Variant build(Mutant mutant, Path scratch) throws IOException {
        if (mutant.withSmallNumbers()) {
            return Variant.ofSmallNumbers(List.of(mutant.substitution()), scratch);
        }
        return Variant.ofChanged(List.of(mutant.substitution()), scratch);
    }

    /** Runs a simulation with the seeds from 0 until one fails or does not finish. */
    public static Result run(Variant.Run simulation, long maxSeeds, int limitSeconds) throws InterruptedException {
        CompletableFuture<Result> result = new CompletableFuture<>();
        AtomicLong seed = new AtomicLong();
        AtomicBoolean cancelled = new AtomicBoolean();
        Thread.ofPlatform()
                .daemon()
                .name("mutant-runner")
                .start(() -> result.complete(search(simulation, maxSeeds, seed, cancelled)));
        long before;
        do {
            before = seed.get();
            try {
                return result.get(limitSeconds, TimeUnit.SECONDS);
            } catch (TimeoutException _) {
                // As long as further seeds finish, the machine is only slow.
            } catch (ExecutionException e) {
                throw new AssertionError(e);
            }
        } while (seed.get() != before);
        cancelled.set(true);
        String message = "seed " + before + " had not finished after " + limitSeconds
                + (limitSeconds == 1 ? " second" : " seconds");
        return result.getNow(new Result(Verdict.NOT_FINISHED, before + 1, message));
    }

    private static Result search(Variant.Run simulation, long maxSeeds, AtomicLong current, AtomicBoolean cancelled) {
        for (long seed = 0; seed < maxSeeds && !cancelled.get(); seed++) {
            current.set(seed);
            try {
                simulation.run(seed);
            } catch (Throwable found) { // a simulation failure, or any exception of the mutant itself
                return new Result(Verdict.CAUGHT, seed + 1, String.valueOf(found.getMessage()));
            }
        }
        return new Result(Verdict.NOTHING_FOUND, maxSeeds, "nothing found");
    }
}
