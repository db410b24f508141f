package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** QEMU migrates a guest to the other host, in a coroutine: it calls the library from stacks that it has allocated itself. */
final class GuestCases {
    private static final int MEBIBYTES = 128;
    private static final int RANDOM_BYTES = 64 << 20;
    private static final String TARGET = "rdma:" + SERVER + ":4444";
    private static final Pattern TOTAL_TIME = Pattern.compile("\"total-time\": (\\d+)");

    private GuestCases() {}

    static void define(ExecCases cases) {
        cases.add("QEMU/migration", Roles.C_WITH_C, FULL, 120, stage -> migrate(stage, null));
        cases.add("QEMU/migration-rdma-pin-all", Roles.C_WITH_C, FULL, 120, stage -> migrate(stage, "rdma-pin-all"));
    }

    private static RunningProcess start(ExecStage stage, Side side, String... options) throws IOException {
        List<String> words = new ArrayList<>(ExecStage.words("qemu-system-x86_64 -accel tcg -m " + MEBIBYTES
                + " -machine pc -nodefaults -display none -S -qmp unix:" + stage.file(side + ".socket")
                + ",server=on,wait=off"));
        words.addAll(List.of(options));
        return stage.execWith(List.of(), side.toString(), side, words);
    }

    /** Sends a command to the monitor of a guest, and returns the reply. */
    private static String monitor(ExecStage stage, Side side, String... command)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(
                "python3",
                stage.source("lib/qmp.py").toString(),
                stage.file(side + ".socket").toString()));
        words.addAll(List.of(command));
        return Command.run(words);
    }

    private static boolean answers(ExecStage stage, Side side, String... command) throws InterruptedException {
        try {
            var _ = monitor(stage, side, command);
            return true;
        } catch (IOException refused) {
            return false;
        }
    }

    private static Path saveMemory(ExecStage stage, Side side) throws CaseFailure, InterruptedException {
        Path file = stage.file(side + ".memory");
        String arguments = "{\"val\": 0, \"size\": %d, \"filename\": \"%s\"}".formatted(MEBIBYTES << 20, file);
        Stage.require(answers(stage, side, "pmemsave", arguments), "the " + side + " does not save its memory");
        return file;
    }

    /** Migrates a guest with random bytes in its memory, and compares the memory. */
    private static void migrate(ExecStage stage, @Nullable String capability)
            throws CaseFailure, IOException, InterruptedException {
        Path random = stage.randomFile("random", RANDOM_BYTES);
        RunningProcess server = start(stage, Side.SERVER, "-incoming", TARGET);
        RunningProcess client =
                start(stage, Side.CLIENT, "-device", "loader,file=" + random + ",addr=0x1000000,force-raw=on");
        for (Side side : Side.values()) {
            Stage.await(
                    Duration.ofSeconds(30),
                    () -> answers(stage, side, "query-status"),
                    "the " + side + " has no monitor");
            if (capability != null) {
                String arguments =
                        "{\"capabilities\": [{\"capability\": \"%s\", \"state\": true}]}".formatted(capability);
                Stage.require(
                        answers(stage, side, "migrate-set-capabilities", arguments),
                        "the " + side + " lacks " + capability);
            }
        }
        Path before = saveMemory(stage, Side.CLIENT);
        Stage.require(
                answers(stage, Side.CLIENT, "migrate", "{\"uri\": \"" + TARGET + "\"}"),
                "the migration does not start");
        Stage.await(
                Duration.ofMinutes(1),
                () -> monitor(stage, Side.CLIENT, "query-migrate")
                        .matches("(?s).*\"status\": \"(completed|failed)\".*"),
                "the migration does not end");
        String result = monitor(stage, Side.CLIENT, "query-migrate");
        Stage.require(result.contains("\"status\": \"completed\""), "the migration fails");
        ExecStage.requireSame(before, saveMemory(stage, Side.SERVER), "the memory differs");
        Matcher time = TOTAL_TIME.matcher(result);
        stage.stage.remark(time.find() ? time.group(1) + " ms" : "");
        for (Side side : List.of(Side.CLIENT, Side.SERVER)) {
            var _ = answers(stage, side, "quit");
            ExecStage.requireSuccess(side == Side.CLIENT ? client : server);
        }
    }
}
