package io.rdma4j.harness.interop;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.CaseRun;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.DebianPackages;
import io.rdma4j.harness.GuestKernel;
import io.rdma4j.harness.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command line of {@code checks/interop/run}. */
@CommandLine.Command(
        name = "checks/interop/run",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "",
            "Boots a Linux guest (QEMU without KVM, Debian's kernel with rdma_rxe) and runs the C tools of rdma-core and perftest in it"
                    + " against those of ./rdma4j on this host, in a network namespace of its own. The cases exec/... run C programs by"
                    + " ./rdma4j exec against the same in the guest. The cases host/... run Java against Java and boot no guest. Needs"
                    + " root; checks/interop/setup installs what it needs.",
            ""
        },
        footer = {
            "",
            "Exits with 0 if every case passed, 1 if one failed, 2 if it could not start. Logs, and a capture of every failed case, are"
                    + " in checks/interop/target/latest."
        })
public final class Main implements Callable<Integer> {
    /** The cases that a run may have. */
    private enum Part {
        all,
        guest,
        host
    }

    enum Peer {
        java,
        c
    }

    /** The checkout. */
    static final Path HOME =
            Path.of(System.getProperty("rdma4j.home", ".")).toAbsolutePath().normalize();

    /** The folder for output. */
    static final Path LOGS = HOME.resolve("checks/interop/target");

    @Mixin
    private final CaseRun run = new CaseRun();

    @Option(names = "--full", description = "also the cases that wait for the default timeouts (5 minutes more)")
    private boolean full;

    @Option(
            names = "--part",
            paramLabel = "PART",
            defaultValue = "all",
            description =
                    "only the cases with the guest (guest), or only those without it (host); two runs with one part each may be"
                            + " active at the same time")
    private Part part = Part.all;

    @Option(
            names = "--warm-up",
            description = "let Java's measuring tools warm up, which takes three seconds for each case")
    private boolean warmsUp;

    @Option(
            names = "--max-failures",
            paramLabel = "N",
            defaultValue = "10",
            description = "stop after N failed cases (default 10; 0: never)")
    private int maxFailures;

    @Option(
            names = "--peer",
            paramLabel = "c",
            defaultValue = "java",
            description = "run a second Linux guest in the place of Java, to see what C does against C")
    private Peer peer = Peer.java;

    @Option(names = "--mtu", paramLabel = "N", defaultValue = "1500", description = "MTU of the link (default 1500)")
    private int mtu;

    @Option(
            names = "--kernel",
            paramLabel = "SERIES",
            defaultValue = "6.1",
            description =
                    "6.1 with Debian 12's programs (default), or 6.12 with Debian 13's, which checks/interop/setup --newer unpacks")
    private String series = "6.1";

    private @Nullable World world;

    @Option(
            names = "--self-test",
            description =
                    "check the test environment, without Java: the guest, C against C inside it, the tap, netem and nft")
    private boolean selfTest;

    private Main() {}

    /** Runs the command and exits with the status described above. */
    public static void main(String[] arguments) {
        execute(new Main(), arguments);
    }

    /** Runs a command of {@code checks/interop} and exits with its status, or with 2 if it could not start. */
    static void execute(Callable<Integer> command, String[] arguments) {
        int status = new CommandLine(command)
                .setStopAtPositional(true) // the options of a command in the guest are its own
                .setExecutionExceptionHandler((fault, line, parsed) -> {
                    System.err.println("interop: " + fault.getMessage());
                    return 2;
                })
                .execute(arguments);
        System.exit(status);
    }

    @Override
    @SuppressWarnings("try") // closing may throw InterruptedException, like this method
    public Integer call() throws IOException, InterruptedException {
        if (full) {
            run.includeLong();
        }
        run.stopAfter(maxFailures);
        Setting setting = new Setting(HOME, kernel(), mtu, peer == Peer.c, warmsUp, null);
        InteropCases cases = new InteropCases(setting, () -> Objects.requireNonNull(world));
        if (selfTest) {
            SelfTest.define(cases);
        } else {
            defineAll(cases);
        }
        List<Case> selected = run.selected(cases.all(this::isInPart));
        if (run.isList()) {
            run.print(selected);
            return 0;
        }
        if (selected.isEmpty()) {
            throw new IOException("no case matches; checks/interop/run --list prints them all");
        }
        boolean needsGuest = !run.selected(cases.all(roles -> isInPart(roles) && roles.needsGuest()))
                .isEmpty();
        requireSetUp(setting, needsGuest);
        if (!setting.isPeerC() && !selfTest) {
            setting.launcher().prepare("--build"); // outside the namespace, which has no network
            if (!run.selected(cases.all(roles -> isInPart(roles) && roles.has(Side.EXEC)))
                    .isEmpty()) {
                setting.launcher()
                        .prepare("exec", "--", "true"); // the user of the programs cannot write to the checkout
            }
        }
        Path folder = CaseRun.newFolder(LOGS, "");
        Host.removeStale();
        try (World created = new World(setting, folder, needsGuest)) {
            world = created;
            return run.run(selected, folder, created);
        }
    }

    private boolean isInPart(Roles roles) {
        return part == Part.all || (part == Part.guest) == roles.needsGuest();
    }

    private GuestKernel kernel() throws IOException {
        return switch (series) {
            case "6.1" -> GuestKernel.of(series);
            case "6.12" -> GuestKernel.of(series).withDebian13();
            default -> throw new IOException("--kernel is 6.1 or 6.12, not " + series);
        };
    }

    static void defineAll(InteropCases cases) {
        Rping.define(cases);
        ConnectionCases.define(cases);
        ToolCases.define(cases);
        FaultCases.define(cases);
        if (cases.setting.isPeerC()) {
            return;
        }
        KernelPortCases.define(cases);
        ExecCases.define(cases);
        Roles.EXEC_AND_C.forEach(roles -> ToolCases.defineByExec(cases, roles));
        HostCases.define(cases);
        MessageCases.defineOnHosts(cases);
        CmtimeCases.defineOnHosts(cases);
        DatagramCases.defineOnHosts(cases);
        KillCases.define(cases);
        StreamCases.defineOnHosts(cases);
        FlushCases.defineOnHosts(cases);
    }

    /** Requires root and what {@code checks/interop/setup} installs. */
    static void requireSetUp(Setting setting, boolean needsGuest) throws IOException, InterruptedException {
        if (!Command.run(List.of("id", "-u")).strip().equals("0")) {
            throw new IOException("must run as root: it makes network namespaces and an emulated machine (try: sudo)");
        }
        List<String> missing = new ArrayList<>();
        Stream<String> programs = Stream.of("tcpdump", "tshark", "ip", "ss");
        if (needsGuest) {
            programs = Stream.concat(
                    programs, Stream.of("qemu-system-x86_64", "rping", "rdma", "ibv_devices", "nft", "tc"));
        }
        programs.filter(program -> !DebianPackages.hasProgram(program)).forEach(missing::add);
        if (needsGuest) {
            missing.addAll(setting.kernel().missing());
        }
        if (!missing.isEmpty()) {
            throw new IOException("missing: " + String.join(", ", missing)
                    + "; run checks/interop/setup first (it needs the Debian archive)");
        }
        if (needsGuest && !Files.exists(Path.of("/dev/net/tun"))) {
            throw new IOException("missing /dev/net/tun (modprobe tun)");
        }
    }
}
