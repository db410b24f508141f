package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** tgt serves a disk over iSER; libiscsi and QEMU's tools inquire, write and read it. */
final class IscsiCases {
    private static final Duration STEP = Duration.ofSeconds(40);
    private static final String TARGET = "iqn.2026-01.io.rdma4j:disk";
    private static final String INITIATOR = "iqn.2026-01.io.rdma4j:initiator";
    private static final String DISK_URL = "iser://" + SERVER + "/" + TARGET + "/1";
    private static final int DISK_BYTES = 33_554_432;
    private static final Pattern RATE = Pattern.compile("iops average (\\d+)");

    /** libiscsi supports no commands of more than 256 KiB over iSER; QEMU's blkdebug splits longer ones. */
    private static final String IMAGE = "driver=blkdebug,max-transfer=262144,image.driver=iscsi,image.transport=iser"
            + ",image.portal=" + SERVER + ":3260,image.target=" + TARGET + ",image.lun=1,image.initiator-name="
            + INITIATOR;

    private final ExecStage stage;

    private IscsiCases(ExecStage stage) {
        this.stage = stage;
    }

    static void define(ExecCases cases) {
        cases.add("libiscsi/iSER", Roles.C_WITH_C, FULL, 120, stage -> new IscsiCases(stage).useTarget());
    }

    private void useTarget() throws CaseFailure, IOException, InterruptedException {
        Path original = stage.randomFile("original", DISK_BYTES);
        Path disk = stage.file("disk");
        stage.run("no disk", Side.SERVER, List.of("truncate", "-s", Integer.toString(DISK_BYTES), disk.toString()));
        RunningProcess target = startTarget(disk);
        initiate("inquiry", "iscsi-inq -i " + INITIATOR + " " + DISK_URL).requireLines(1, "^Product:VIRTUAL-DISK");
        initiate("capacity", "iscsi-readcapacity16 -i " + INITIATOR + " " + DISK_URL)
                .requireLines(1, "^Total size:" + DISK_BYTES + "$");
        var _ = initiate("write", "qemu-img convert -n -f raw --target-image-opts " + original + " " + IMAGE);
        ExecStage.requireSame(original, disk, "the disk differs");
        var _ = initiate("read", "qemu-img convert -O raw --image-opts " + IMAGE + " " + stage.file("copy"));
        ExecStage.requireSame(original, stage.file("copy"), "the copy differs");
        RunningProcess perf = initiate("perf", "iscsi-perf -i " + INITIATOR + " -m 8 -b 8 -t 5 " + DISK_URL);
        List<MatchResult> rates = RATE.matcher(perf.out()).results().toList();
        stage.stage.remark(rates.isEmpty() ? "" : rates.getLast().group(1) + " reads/s of 4 KiB");
        endTarget(target);
    }

    private List<String> withSocket(List<String> words) {
        List<String> all = new ArrayList<>(List.of("env", "TGT_IPC_SOCKET=" + stage.file("tgtd")));
        all.addAll(words);
        return all;
    }

    private RunningProcess startTarget(Path disk) throws CaseFailure, IOException, InterruptedException {
        RunningProcess target =
                stage.start("server", Side.SERVER, withSocket(stage.execWords(List.of(), List.of("tgtd", "-f"))));
        stage.awaitListener();
        Stage.await(Duration.ofSeconds(10), () -> Files.exists(stage.file("tgtd.0")), "the target does not start");
        administer("target --op new --tid 1 --targetname " + TARGET);
        administer("logicalunit --op new --tid 1 --lun 1 --backing-store " + disk);
        administer("target --op bind --tid 1 --initiator-address ALL");
        administer("target --op bind --tid 1 --initiator-name " + INITIATOR);
        return target;
    }

    private void administer(String command) throws CaseFailure, InterruptedException {
        var _ = stage.run(
                "the target refuses: " + command,
                Side.SERVER,
                withSocket(ExecStage.words("tgtadm --lld iser --mode " + command)));
    }

    /**
     * Runs an initiator. tgt drops an initiator if its first command arrives before the acknowledgement of the login response
     * ("non-login pdu"), so this also shows that both are processed in the same order as by a card.
     */
    private RunningProcess initiate(String label, String command)
            throws CaseFailure, IOException, InterruptedException {
        return ExecStage.requireSuccess(
                stage.start(label, Side.CLIENT, stage.execWords(List.of(), ExecStage.words(command)), STEP));
    }

    /**
     * tgt ends when it has no targets left. It can delete a target once the last connection has left the time-wait state, and
     * crashes with --force.
     */
    private void endTarget(RunningProcess target) throws CaseFailure, IOException, InterruptedException {
        Stage.await(Duration.ofSeconds(20), this::deletesTarget, "the target remains in use");
        administer("sys --op delete");
        ExecStage.requireSuccess(target);
        Stage.require(!target.complains("ibv_|rdma_|wr_id:.*err:"), "the target reports a failed call of RDMA");
    }

    private boolean deletesTarget() throws InterruptedException {
        try {
            administer("target --op delete --tid 1");
            return true;
        } catch (CaseFailure inUse) {
            return false;
        }
    }
}
