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

/**
 * Ceph's messenger over RDMA: a monitor on one host and a store in memory on the other. TCP is used only to exchange the numbers of
 * the queue pairs.
 */
final class CephCases {
    private static final Duration STEP = Duration.ofSeconds(40);
    private static final int MONITOR_PORT = 3300;
    private static final String CLUSTER = "2d0f4b52-6c35-4f0e-9a3c-7b8a2f1e5d10";
    private static final String STORE = "9b6d7c1e-41f2-4c8b-8f0d-3e5a6c7d8e9f";

    private final ExecStage stage;

    private CephCases(ExecStage stage) {
        this.stage = stage;
    }

    static void define(ExecCases cases) {
        cases.add("Ceph/async+rdma", Roles.C_WITH_C, FULL, 180, stage -> new CephCases(stage).storeObjects());
    }

    /** Reads back the data that were stored, and compares them. Then measures both directions briefly. */
    private void storeObjects() throws CaseFailure, IOException, InterruptedException {
        Files.writeString(stage.file("ceph.conf"), settings());
        stage.run(
                "no folder",
                Side.SERVER,
                List.of("mkdir", stage.file("monitor-data").toString()));
        stage.run(
                "no folder",
                Side.CLIENT,
                List.of("mkdir", stage.file("store-data").toString()));
        Path map = stage.file("map");
        run("map", Side.SERVER, "monmaptool --create --fsid " + CLUSTER + " --addv a [v2:" + SERVER + ":3300] " + map);
        run("new-monitor", Side.SERVER, "ceph-mon --mkfs -i a --monmap " + map);
        RunningProcess monitor = start("monitor", Side.SERVER, "ceph-mon -f -i a", stage.stage.limit());
        Stage.await(
                Duration.ofSeconds(30),
                () -> stage.hosts.listensOnTcp(Side.SERVER, MONITOR_PORT),
                "the monitor does not listen");
        run("store-number", Side.SERVER, "ceph osd new " + STORE);
        run("new-store", Side.CLIENT, "ceph-osd --mkfs -i 0 --osd-uuid " + STORE);
        RunningProcess store = start("store", Side.CLIENT, "ceph-osd -f -i 0", stage.stage.limit());
        run("pool", Side.SERVER, "ceph osd pool create things 1 1");
        for (Side side : Side.values()) {
            Stage.require(!stage.hosts.holdersOfRocePort(side).isEmpty(), "the cluster does not use RDMA");
        }
        Path original = stage.randomFile("original", 10_000_000);
        run("put", Side.SERVER, "rados -p things put thing " + original);
        run("get", Side.SERVER, "rados -p things get thing " + stage.file("copy"));
        ExecStage.requireSame(original, stage.file("copy"), "the copy differs");
        RunningProcess write = run("write", Side.SERVER, "rados -p things bench 3 write -b 65536 -t 8 --no-cleanup");
        RunningProcess read = run("read", Side.SERVER, "rados -p things bench 3 seq -t 8");
        stage.stage.remark(rate(write) + " writes/s, " + rate(read) + " reads/s of 64 KiB");
        for (RunningProcess each : List.of(store, monitor)) {
            each.signal("TERM");
            requireSuccess(each);
        }
    }

    /** By default each process posts 4096 receives of 128 KiB, which a test with two hosts does not need. */
    private String settings() {
        return """
            [global]
            fsid = %1$s
            mon_host = v2:%2$s:3300
            mon_data = %3$s/monitor-data
            osd_data = %3$s/store-data
            osd_objectstore = memstore
            admin_socket =
            run_dir = %3$s
            crash_dir = %3$s
            log_file =
            log_to_stderr = true
            mon_cluster_log_to_file = false
            auth_cluster_required = none
            auth_service_required = none
            auth_client_required = none
            ms_type = async+rdma
            ms_async_rdma_device_name = rdma4j_eth0
            ms_async_rdma_receive_buffers = 2048
            ms_async_rdma_receive_queue_len = 1024
            ms_async_rdma_send_buffers = 512
            osd_pool_default_size = 1
            mon_allow_pool_size_one = true
            """.formatted(CLUSTER, SERVER, stage.file(""));
    }

    private RunningProcess start(String label, Side side, String command, Duration limit) throws IOException {
        List<String> words = new ArrayList<>(List.of("env", "CEPH_CONF=" + stage.file("ceph.conf")));
        words.addAll(stage.execWords(List.of(), ExecStage.words(command)));
        return stage.start(label, side, words, limit);
    }

    private RunningProcess run(String label, Side side, String command)
            throws CaseFailure, IOException, InterruptedException {
        return requireSuccess(start(label, side, command, STEP));
    }

    /** Ceph warns about the limit of locked memory, which does not matter here. */
    private static RunningProcess requireSuccess(RunningProcess process) throws CaseFailure, InterruptedException {
        ExecStage.requireSuccess(process);
        for (String line : process.err().lines().toList()) {
            boolean isFault = line.matches(".*(FAILED ceph_assert|Caught signal| -1 (Infiniband|RDMA)).*");
            Stage.require(!isFault || line.contains("verify_prereq"), "the " + process.label() + " reports: " + line);
        }
        return process;
    }

    private static String rate(RunningProcess bench) {
        return bench.out()
                .lines()
                .filter(line -> line.startsWith("Average IOPS:"))
                .map(line -> line.substring("Average IOPS:".length()).strip())
                .findFirst()
                .orElse("?");
    }
}
