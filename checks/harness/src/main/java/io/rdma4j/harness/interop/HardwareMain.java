package io.rdma4j.harness.interop;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.CaseRun;
import io.rdma4j.harness.GuestKernel;
import io.rdma4j.harness.Host;
import io.rdma4j.harness.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command line of {@code checks/interop/hardware}. */
@Command(
        name = "checks/interop/hardware",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "",
            "Boots a Linux guest (QEMU without KVM, Debian's kernel) with the RoCE device rxe0 and the iWARP device siw0, and runs"
                    + " ./rdma4j in it: on these devices against C on the same device, and against ./rdma4j on the software device of"
                    + " this host. Needs root; checks/interop/setup --hardware installs what it needs.",
            ""
        },
        footer = {
            "",
            "Exits with 0 if every case passed, 1 if one failed, 2 if it could not start. Logs are in"
                    + " checks/interop/target/latest-hardware. RDMA4J_INTEROP_JAVA_OPTS has options for Java in the guest."
        })
public final class HardwareMain implements Callable<Integer> {
    /** The cases of {@code --smoke}. */
    static final Pattern SMOKE = Pattern.compile("^rxe/rping/v4 (C->Java|Java->C)$|^rxe/fault/deleted ");

    private static final int MTU = 1500;

    @Mixin
    private final CaseRun run = new CaseRun();

    @Option(names = "--kernel", paramLabel = "SERIES", description = "6.1 (default), 6.12, or all: one after the other")
    private String series = "6.1";

    @Option(names = "--conformance", description = "only the conformance tests, on both devices")
    private boolean onlyConformance;

    @Option(
            names = "--class",
            paramLabel = "NAME",
            description = "only these classes of the conformance tests (repeatable)")
    private final List<String> classes = new ArrayList<>();

    @Option(
            names = "--smoke",
            description = "three cases on rxe0 alone, as in CI; for these, checks/interop/setup needs no --hardware")
    private boolean smoke;

    @Option(names = "--warm-up", description = "let Java's measuring tools warm up")
    private boolean warmsUp;

    @Option(
            names = "--max-failures",
            paramLabel = "N",
            description = "stop after N failed cases (default 10; 0: never)")
    private int mostFailures = 10;

    @Option(
            names = "--peer",
            paramLabel = "c",
            description = "run C in the place of Java in the guest, to see what C does against C")
    private Main.Peer peer = Main.Peer.java;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            description = "the device that Java in the guest uses (RDMA4J_DEVICE), instead of that of the address")
    private @Nullable String device;

    private @Nullable World world;

    private HardwareMain() {}

    /** Runs the command and exits with the status described above. */
    public static void main(String[] arguments) {
        Main.execute(new HardwareMain(), arguments);
    }

    @Override
    @SuppressWarnings("try") // closing may throw InterruptedException, like this method
    public Integer call() throws IOException, InterruptedException {
        if (onlyConformance) {
            run.restrictTo(Pattern.compile("/conformance "));
        }
        if (smoke) {
            run.restrictTo(SMOKE);
        }
        run.stopAfter(mostFailures);
        List<String> all = series.equals("all") ? List.of("6.1", "6.12") : List.of(series);
        GuestJava java = new GuestJava(Main.HOME, classes);
        List<Case> listed = run.selected(cases(setting(all.getFirst()), java));
        if (run.isList()) {
            run.print(listed);
            return 0;
        }
        if (listed.isEmpty()) {
            throw new IOException("no case matches; checks/interop/hardware --list prints them all");
        }
        for (String each : all) {
            Main.requireSetUp(setting(each), true);
        }
        if (peer == Main.Peer.java) {
            new Launcher(Main.HOME).prepare("--build"); // the guest has neither the time nor the memory to build
            java.prepare(listed);
        }
        Path logs = CaseRun.newFolder(Main.LOGS, "-hardware");
        Host.removeStale();
        int status = 0;
        for (String each : all) {
            Setting setting = setting(each);
            Path folder = Files.createDirectories(logs.resolve(each));
            try (World created = new World(setting, folder, true)) {
                world = created;
                status = Math.max(status, run.run(run.selected(cases(setting, java)), folder, created));
            }
        }
        return status;
    }

    private Setting setting(String kernel) {
        Setting.Inside inside = new Setting.Inside(peer == Main.Peer.c, GuestJava.environment(device));
        GuestKernel plain = GuestKernel.of(kernel);
        return new Setting(Main.HOME, smoke ? plain : plain.withSiw(), MTU, false, warmsUp, inside);
    }

    private List<Case> cases(Setting setting, GuestJava java) {
        InteropCases cases = new InteropCases(setting, () -> Objects.requireNonNull(world));
        HardwareCases.define(cases, java);
        return cases.all(roles -> true);
    }
}
