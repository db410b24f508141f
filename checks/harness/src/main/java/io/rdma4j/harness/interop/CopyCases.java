package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.util.List;

/** rcopy: a file is copied, and the SHA-256 of the copy must be that of the original. */
final class CopyCases {
    private static final String DAMAGE = "--fault loss=1%,seed=7";

    private CopyCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 60);
        rows.cannot(
                "rcopy/v6",
                "the server listens on IPv4 only, and the client takes what precedes the first colon for the address");
        rows.add("rcopy/v4", "2 MB", QUICK, copy(Family.V4, 2_000_000, ""));
    }

    static void defineOnHosts(InteropCases cases) {
        Rows far = new Rows(cases, Roles.FAR_SERVER, 60);
        far.add("host/rcopy/far-v4", "20 MB", QUICK, copy(Family.V4, 20_000_000, ""));
        far.add("host/rcopy/loss", "20 MB, 1 % lost", QUICK, 100, copy(Family.V4, 20_000_000, DAMAGE));
        Rows near = new Rows(cases, Roles.NEAR, 300);
        near.add("host/rcopy/2g", "2 GB", copy(Family.LO4, 2_000_000_000, ""));
        near.add("host/rcopy/2g-loss", "2 GB, 1 % lost", copy(Family.LO4, 2_000_000_000, DAMAGE));
    }

    /** Copies a file of this number of bytes from the client to the server, which has to go on running. */
    static InteropCases.Body copy(Family family, int bytes, String optionsOfJava) {
        return stage -> {
            String source = file(stage, stage.client, "source");
            String target = file(stage, stage.server, "target");
            try {
                String sum = shell(
                        stage, stage.client, "head -c " + bytes + " /dev/urandom | tee " + source + " | sha256sum");
                Pair pair = Pair.start(
                        stage,
                        "rcopy -p 7427 " + (stage.isC(stage.server) ? "" : optionsOfJava),
                        Pair.printing(stage, "^waiting"),
                        "rcopy " + source + " " + stage.serverAddress(family) + ":" + target + " "
                                + (stage.isC(stage.client) ? "" : optionsOfJava));
                pair.client().requireSuccess();
                Stage.require(
                        pair.client().prints("^opening\\.\\.\\.transferring\\.\\.\\.closing\\.\\.\\.done$"),
                        "the client did not print its steps");
                InteropStage.requireQuiet(pair.client());
                Stage.require(
                        shell(stage, stage.server, "sha256sum <" + target).equals(sum),
                        "the file that arrived is another");
                InteropStage.requireRunning(pair.server());
                stage.stage.remark(pair.client().out().lines().toList().getLast());
            } finally {
                shell(stage, stage.client, "rm -f " + source);
                shell(stage, stage.server, "rm -f " + target);
            }
        };
    }

    private static String file(InteropStage stage, Side side, String name) {
        return stage.isInGuest(side) ? "/tmp/rcopy-" + name : stage.file(name).toString();
    }

    /** Runs a script on a side with the limit of the case: a large file takes long. */
    private static String shell(InteropStage stage, Side side, String script)
            throws CaseFailure, IOException, InterruptedException {
        return stage.startCommand("shell", side, List.of("sh", "-c", script))
                .requireSuccess()
                .out();
    }
}
