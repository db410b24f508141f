package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.AccessMatrix;
import java.time.Duration;

/** A peer accesses memory in every invalid way. Each access is refused, and neither changes nor discloses a byte. */
public final class IllegalAccess implements AcceptanceTest.Body {
    private static final int MIN_ROWS = 75;

    @Override
    public String required(Scale scale) {
        return "all of at least " + MIN_ROWS + " rows with the right status, canaries unchanged, nothing disclosed; "
                + rounds(scale) + " times";
    }

    private static int rounds(Scale scale) {
        return scale.of(1, 10);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int rows = 0;
        for (int round = 0; round < rounds(stage.scale()); round++) {
            Child child =
                    Child.builder(stage, "matrix-" + round, AccessMatrix.class).start();
            JsonNode result = child.await("result", Duration.ofSeconds(100));
            rows = result.get("rows").asInt();
            if (!result.get("wrong").isEmpty()) {
                return Outcome.failed(result.get("wrong").size() + " of " + rows + " wrong: "
                        + result.get("wrong").get(0).asText());
            }
        }
        return Outcome.of(rows >= MIN_ROWS, rows + "/" + rows + " rows, canaries unchanged");
    }
}
