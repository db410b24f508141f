package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.variants.Mutant;
import io.rdma4j.acceptance.variants.MutantRunner;
import io.rdma4j.acceptance.variants.Mutants;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Builds each of {@link Mutants} and checks whether its simulation detects the mutation. */
public final class MutationTest implements AcceptanceTest.Body {
    /** For one seed, which normally takes milliseconds. */
    private static final int LIMIT_SECONDS = 60;

    @Override
    public String required(Scale scale) {
        return "at least 20 mutants, 19 of 20 caught within " + seeds(scale) + " seeds";
    }

    private static int seeds(Scale scale) {
        return scale.of(400, 10_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        List<Mutant> all = Mutants.all();
        List<String> survivors = new ArrayList<>();
        List<String> unfinished = new ArrayList<>();
        for (Mutant mutant : all) {
            stage.progress(mutant.name());
            Path classes = stage.folder().resolve(mutant.name());
            MutantRunner.Result result = MutantRunner.mutant(mutant, classes, seeds(stage.scale()), LIMIT_SECONDS);
            if (result.isUnfinished()) {
                unfinished.add(mutant.name());
            } else if (!result.isCaught()) {
                survivors.add(mutant.name());
            }
        }
        int caught = all.size() - survivors.size() - unfinished.size();
        boolean isReached = all.size() >= 20 && unfinished.isEmpty() && 20 * caught >= 19 * all.size();
        return Outcome.of(
                isReached,
                caught + " of " + all.size() + " caught" + (survivors.isEmpty() ? "" : ", missed: " + survivors)
                        + (unfinished.isEmpty() ? "" : ", not finished: " + unfinished));
    }
}
