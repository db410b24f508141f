package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Errors of every kind are thrown wherever they can occur in code that connections share: in an access filter, in the
 * listener of a signal, in memory of a truncated file and of a full disk, with a stack that is too small at each entry,
 * and with a full heap. {@link ErrorCell} lists the combinations.
 *
 * <p>Each error has the documented outcome for the object for which the code ran. Another connection, which is not
 * involved, transfers numbered bytes meanwhile: it loses none and does not break. No thread of the device ends.
 */
public final class ErrorStorm implements AcceptanceTest.Body {
    @Override
    public String required(Scale scale) {
        return "%d rounds of all cells: each culprit's outcome, 0 wrong bytes, 0 broken connections, 0 lost threads"
                .formatted(rounds(scale));
    }

    private static int rounds(Scale scale) {
        return scale.of(20, 1000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int rounds = rounds(stage.scale());
        Path disk = Files.createDirectories(stage.folder().resolve("disk"));
        boolean hasDisk = canMount(disk);
        Child storm = Child.builder(stage, "storm", Storm.class)
                .withPrefix(hasDisk ? withDisk(disk, "exec \"$@\"") : new String[0])
                .options("-Xmx24m", "-Xlog:disable", "-Xlog:all=warning:stderr")
                .with("rounds", rounds)
                .with("disk", hasDisk ? disk : "")
                .start();
        JsonNode result = storm.await("result", stage.limit());
        String wrong = result.get("wrong").asText();
        String lost = result.get("lostThreads").asText();
        boolean isRight = wrong.isEmpty() && lost.isEmpty();
        return Outcome.of(
                isRight,
                isRight
                        ? "%d rounds of %d cells%s, %d messages of the other connection intact, 0 threads lost"
                                .formatted(
                                        rounds,
                                        result.get("cells").asInt(),
                                        hasDisk ? "" : " (none of a full disk: no file system can be mounted here)",
                                        result.get("messages").asLong())
                        : "%s; threads lost: %s".formatted(wrong, lost));
    }

    /**
     * Returns the words of a command line that runs a command in a mount namespace, in which the folder is a file
     * system of 256 KiB.
     */
    private static String[] withDisk(Path folder, String command) {
        String script = "mount -t tmpfs -o size=256k none \"$0\" && " + command;
        return new String[] {"unshare", "-rm", "sh", "-c", script, folder.toString()};
    }

    private static boolean canMount(Path folder) throws InterruptedException {
        try {
            return new ProcessBuilder(withDisk(folder, "true")).start().waitFor() == 0;
        } catch (IOException noSuchCommand) {
            return false;
        }
    }

    /** The process in which the errors are thrown. */
    public static final class Storm implements Role {
        private static final int PAGE_BYTES = 4096;

        @Override
        public void run(Parent parent) throws Exception {
            long rounds = parent.number("rounds", 0);
            Map<String, Object> result = new TreeMap<>();
            String wrong = "";
            String disk = parent.text("disk", "");
            if (!disk.isEmpty()) {
                fill(disk);
            }
            List<ErrorCell> cells = ErrorCell.all(disk);
            TreeSet<String> lost = new TreeSet<>();
            try (Bystander bystander = new Bystander()) {
                bystander.check();
                Set<String> before = deviceThreads();
                ErrorCell.Stage stage = new ErrorCell.Stage(bystander);
                for (long i = 0; i < rounds && wrong.isEmpty(); i++) {
                    wrong = round(cells, stage, bystander, i);
                }
                lost.addAll(before);
                lost.removeAll(deviceThreads());
                result.put("messages", bystander.messages());
                stage.close();
            }
            result.put("cells", cells.size());
            result.put("wrong", wrong);
            result.put("lostThreads", String.join(", ", lost));
            parent.report("result", result);
        }

        /** Fills a disk. */
        private static void fill(String disk) throws IOException {
            try (OutputStream filler = Files.newOutputStream(Path.of(disk, "filler"))) {
                while (true) {
                    filler.write(new byte[PAGE_BYTES]);
                }
            } catch (FileSystemException unexpected) {
                throw unexpected;
            } catch (IOException full) {
                return;
            }
        }

        /** Returns what was wrong, or an empty text. */
        private static String round(List<ErrorCell> cells, ErrorCell.Stage stage, Bystander bystander, long number) {
            for (ErrorCell cell : cells) {
                try {
                    String outcome = cell.action().run(stage);
                    bystander.check();
                    if (!outcome.isEmpty()) {
                        return "round %d, %s: %s".formatted(number, cell.name(), outcome);
                    }
                } catch (Exception | Error e) {
                    e.printStackTrace();
                    return "round %d, %s: %s".formatted(number, cell.name(), e);
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
