package io.rdma4j.testkit.variant;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Looks for a seed whose run finds what is wrong with a variant. */
public final class MutantRunner {
    private MutantRunner() {}

    /** How a hunt ended. */
    public enum Verdict {
        /** A run broke a law. */
        CAUGHT,
        /** All runs ended well. */
        NOTHING_FOUND,
        /** A run did not end: that says something of the machine, or of the mistake, but breaks no law. */
        NOT_FINISHED
    }

    /**
     * What a hunt has found.
     *
     * @param verdict how it ended
     * @param seeds how many seeds were run, the last one included
     * @param message what the failing run said
     */
    public record Result(Verdict verdict, long seeds, String message) {
        /** Whether some run broke a law. */
        public boolean isCaught() {
            return verdict == Verdict.CAUGHT;
        }

        /** Whether a run did not end, so that the hunt says nothing. */
        public boolean isUnfinished() {
            return verdict == Verdict.NOT_FINISHED;
        }
    }

    /**
     * Runs the seeds from 0 on, until one fails.
     *
     * @param mostSeeds how many to try
     * @param limitSeconds after which the run of one seed counts as not finished; its thread is left alone
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

    /** Runs the seeds from 0 on with a simulation, until one fails or does not end. */
    public static Result run(Variant.Run simulation, long mostSeeds, int limitSeconds) throws InterruptedException {
        CompletableFuture<Result> result = new CompletableFuture<>();
        AtomicLong seed = new AtomicLong();
        AtomicBoolean isOver = new AtomicBoolean();
        Thread.ofPlatform()
                .daemon()
                .name("hunt")
                .start(() -> result.complete(search(simulation, mostSeeds, seed, isOver)));
        long before;
        do {
            before = seed.get();
            try {
                return result.get(limitSeconds, TimeUnit.SECONDS);
            } catch (TimeoutException _) {
                // As long as seeds come to their end the machine is only slow.
            } catch (ExecutionException e) {
                throw new AssertionError(e);
            }
        } while (seed.get() != before);
        isOver.set(true);
        String message =
                "seed " + before + " was not over after " + limitSeconds + (limitSeconds == 1 ? " second" : " seconds");
        return result.getNow(new Result(Verdict.NOT_FINISHED, before + 1, message));
    }

    private static Result search(Variant.Run simulation, long mostSeeds, AtomicLong current, AtomicBoolean isOver) {
        for (long seed = 0; seed < mostSeeds && !isOver.get(); seed++) {
            current.set(seed);
            try {
                simulation.run(seed);
            } catch (Throwable found) { // whatever it is: a failure of the oracle, or of the mutant itself
                return new Result(Verdict.CAUGHT, seed + 1, String.valueOf(found.getMessage()));
            }
        }
        return new Result(Verdict.NOTHING_FOUND, mostSeeds, "nothing found");
    }
}
