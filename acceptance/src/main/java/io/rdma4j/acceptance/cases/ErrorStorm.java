package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Errors of every kind are thrown wherever code that connections share can meet them: in an access filter, in the listener of a signal,
 * in an input of the engine, by memory of a truncated file, by a stack that is too small at each entry, and by a heap that is full.
 *
 * <p>Each error has the outcome that the documentation promises for the object in whose name the code ran. A connection that has nothing to do with it
 * transfers numbered bytes all the time: it loses none and does not break. No thread of the device ends.
 */
public final class ErrorStorm implements AcceptanceTest {
    @Override
    public int number() {
        return 39;
    }

    @Override
    public String title() {
        return "error storm";
    }

    @Override
    public String required(Scale scale) {
        return "%d rounds of %d cells: each culprit's outcome, 0 wrong bytes, 0 broken connections, 0 lost threads"
                .formatted(rounds(scale), ErrorCell.values().length);
    }

    private static int rounds(Scale scale) {
        return scale.of(20, 1000);
    }

    @Override
    public int limitSeconds(Scale scale) {
        return scale.of(240, 7200);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int rounds = rounds(stage.scale());
        Child storm = Child.builder(stage, "storm", Storm.class)
                .options("-Xmx64m")
                .with("rounds", rounds)
                .start();
        JsonNode result = storm.await("result", Duration.ofSeconds(limitSeconds(stage.scale())));
        String wrong = result.get("wrong").asText();
        String lost = result.get("lostThreads").asText();
        boolean isRight = wrong.isEmpty() && lost.isEmpty();
        return Outcome.of(
                isRight,
                isRight
                        ? "%d rounds of %d cells, %d messages of the other connection intact, 0 threads lost"
                                .formatted(
                                        rounds,
                                        ErrorCell.values().length,
                                        result.get("messages").asLong())
                        : "%s; threads lost: %s".formatted(wrong, lost));
    }

    /** The process in which the errors are thrown. */
    public static final class Storm implements Role {
        @Override
        public void run(Parent parent) throws Exception {
            long rounds = parent.number("rounds", 0);
            Map<String, Object> result = new TreeMap<>();
            String wrong = "";
            TreeSet<String> lost = new TreeSet<>();
            try (Bystander bystander = new Bystander()) {
                bystander.check();
                Set<String> before = deviceThreads();
                ErrorCell.Stage stage = new ErrorCell.Stage(bystander);
                for (long i = 0; i < rounds && wrong.isEmpty(); i++) {
                    wrong = round(stage, bystander, i);
                }
                lost.addAll(before);
                lost.removeAll(deviceThreads());
                result.put("messages", bystander.messages());
                stage.close();
            }
            result.put("wrong", wrong);
            result.put("lostThreads", String.join(", ", lost));
            parent.report("result", result);
        }

        /** Returns what was wrong, or an empty text. */
        private static String round(ErrorCell.Stage stage, Bystander bystander, long number) {
            for (ErrorCell cell : ErrorCell.values()) {
                try {
                    String outcome = cell.run(stage);
                    bystander.check();
                    if (!outcome.isEmpty()) {
                        return "round %d, %s: %s".formatted(number, cell, outcome);
                    }
                } catch (Exception | Error e) {
                    e.printStackTrace();
                    return "round %d, %s: %s".formatted(number, cell, e);
                }
            }
            return "";
        }

        private static Set<String> deviceThreads() {
            TreeSet<String> names = new TreeSet<>();
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().startsWith("rdma4j")) {
                    names.add(thread.getName() + "#" + thread.threadId());
                }
            }
            return names;
        }
    }
}
