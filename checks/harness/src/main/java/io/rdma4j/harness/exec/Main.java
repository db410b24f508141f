package io.rdma4j.harness.exec;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.CaseRun;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.DebianPackages;
import io.rdma4j.harness.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** The command line of {@code apps/exec/run}. */
@CommandLine.Command(
        name = "apps/exec/run",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "",
            "Runs the programs of ibverbs-utils, rdmacm-utils and perftest, UCX, librspreload, Open MPI, QEMU, dapltest,"
                    + " Ceph, tgt, libiscsi and libfabric, and the tests of pyverbs, by rdma4j exec as the user nobody, with"
                    + " 64 KiB of locked memory and without /dev/infiniband, on two hosts that are network namespaces. A row"
                    + " names client and server: C->Java is a C client with Java's tool as the server. Needs root, and"
                    + " installs missing Debian packages.",
            ""
        },
        footer = {
            "",
            "Exits with 0 if every row passed, 1 if one failed, 2 if it could not start. The output of a row that failed is"
                    + " in apps/exec/target/rows/latest.",
            "",
            "examples:",
            "  sudo apps/exec/run --quick                        three minutes",
            "  sudo apps/exec/run --only 'ib_send_lat.*Java->C'"
        })
public final class Main implements Callable<Integer> {
    @Mixin
    private final CaseRun run = new CaseRun();

    private final Path home =
            Path.of(System.getProperty("rdma4j.home", ".")).toAbsolutePath().normalize();

    private @Nullable ExecHosts hosts;

    private Main() {}

    /** Runs the command and exits with the status described above. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    @SuppressWarnings("try") // closing may throw InterruptedException, like this method
    public Integer call() throws IOException, InterruptedException, CaseFailure {
        ExecCases cases = new ExecCases(() -> Objects.requireNonNull(hosts), home);
        defineAll(cases);
        List<Case> selected = run.selected(cases.all());
        if (run.isList()) {
            run.print(selected);
            return 0;
        }
        if (selected.isEmpty()) {
            return fail("no row matches; apps/exec/run --list prints them all");
        }
        if (!Command.run(List.of("id", "-u")).strip().equals("0")) {
            return fail("must run as root: it creates network namespaces (try: sudo apps/exec/run)");
        }
        installPackages(selected);
        prepareLauncher();
        try (ExecHosts created = ExecHosts.create()) {
            hosts = created;
            return run.run(selected, home.resolve("apps/exec/target/rows"));
        }
    }

    private static int fail(String reason) {
        System.err.println("apps/exec/run: " + reason);
        return 2;
    }

    static void defineAll(ExecCases cases) {
        ToolCases.define(cases);
        PerftestCases.define(cases);
        LibraryCases.define(cases);
        FaultCases.define(cases);
        EndCases.define(cases);
        LauncherCases.define(cases);
        CaptureCases.define(cases);
        GuestCases.define(cases);
        DapltestCases.define(cases);
        CephCases.define(cases);
        IscsiCases.define(cases);
        FabricCases.define(cases);
        PyverbsCases.define(cases);
    }

    /** Builds as root and before the first row, because the user of the rows cannot write to the checkout. */
    private void prepareLauncher() throws IOException, InterruptedException {
        Launcher launcher = new Launcher(home);
        launcher.prepare("--build");
        launcher.prepare("exec", "--", "true");
    }

    /** Some packages are large, or start a service: those of rows that do not run are not installed. */
    private static void installPackages(List<Case> selected) throws IOException, InterruptedException {
        Map<String, String> programs = new LinkedHashMap<>(Map.of(
                "ibv_devices", "ibverbs-utils",
                "rping", "rdmacm-utils",
                "ib_send_lat", "perftest",
                "ucx_perftest", "ucx-utils",
                "NPtcp", "netpipe-tcp",
                "mpirun", "openmpi-bin",
                "mpicc", "libopenmpi-dev",
                "cc", "gcc",
                "ip", "iproute2",
                "tshark", "tshark"));
        if (has(selected, "QEMU/")) {
            programs.put("qemu-system-x86_64", "qemu-system-x86");
        }
        if (has(selected, "dapltest/")) {
            programs.put("dapltest", "dapl2-utils");
        }
        if (has(selected, "Ceph/")) {
            programs.putAll(Map.of("ceph-mon", "ceph-mon", "ceph-osd", "ceph-osd", "rados", "ceph-common"));
        }
        if (has(selected, "libiscsi/")) {
            programs.putAll(Map.of("tgtd", "tgt", "iscsi-perf", "libiscsi-bin", "qemu-img", "qemu-utils"));
        }
        if (has(selected, "libfabric/")) {
            programs.put("fi_pingpong", "libfabric-bin");
        }
        DebianPackages packages = new DebianPackages()
                .ofPrograms(programs)
                .of("libc6-dev", Files.exists(Path.of("/usr/include/stdio.h")))
                .of("librdmacm-dev", Files.exists(Path.of("/usr/include/rdma/rdma_cma.h")))
                .of("libibverbs-dev", Files.exists(Path.of("/usr/include/infiniband/verbs.h")))
                .of("python3-pyverbs", Files.exists(Path.of("/usr/lib/python3/dist-packages/pyverbs")));
        if (has(selected, "libiscsi/")) {
            packages.of("qemu-block-extra", DebianPackages.hasLibrary("qemu/block-iscsi.so"));
        }
        packages.install();
    }

    private static boolean has(List<Case> selected, String prefix) {
        return selected.stream().anyMatch(each -> each.name().startsWith(prefix));
    }
}
