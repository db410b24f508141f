package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.variants.MutantRunner;
import io.rdma4j.acceptance.variants.Variant;
import io.rdma4j.simulator.Simulation;
import java.util.List;

/**
 * Random work over unreliable networks with PSNs of 24 bits; half of the connections start less than 40 packets before
 * the wrap-around. The same in a build with 6-bit PSNs and 5-bit queue pair numbers, where each long message wraps
 * around several times and hosts share numbers.
 */
public final class PsnWrap implements AcceptanceTest.Body {
    @Override
    public String required(Scale scale) {
        return "0 errors in " + seeds(scale) + " seeds, with 24 bits and with 6";
    }

    private static int seeds(Scale scale) {
        return scale.of(1_000, 10_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int seeds = seeds(stage.scale());
        int limitSeconds = (int) stage.limit().toSeconds() / 2 - 10;
        stage.progress(seeds + " seeds with 24 bits");
        MutantRunner.Result usual = MutantRunner.run(Simulation::run, seeds, limitSeconds);
        stage.progress(seeds + " seeds with 6 bits");
        try (Variant small = Variant.ofSmallNumbers(List.of(), stage.folder().resolve("classes"))) {
            MutantRunner.Result wrapping =
                    MutantRunner.run(small.simulation(Simulation.class.getName()), seeds, limitSeconds);
            return Outcome.of(
                    !usual.isCaught() && !wrapping.isCaught(),
                    "24 bits: " + describe(usual) + "; 6 bits: " + describe(wrapping));
        }
    }

    private static String describe(MutantRunner.Result result) {
        return result.isCaught()
                ? "an error at seed " + (result.seeds() - 1) + ": " + result.message()
                : "0 errors in " + result.seeds() + " seeds";
    }
}
