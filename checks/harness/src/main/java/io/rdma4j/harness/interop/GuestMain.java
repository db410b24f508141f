package io.rdma4j.harness.interop;

import static java.util.Comparator.comparing;

import io.rdma4j.harness.CaseRun;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.Guest;
import io.rdma4j.harness.GuestKernel;
import io.rdma4j.harness.Host;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command line of {@code checks/interop/guest}. */
@CommandLine.Command(
        name = "checks/interop/guest",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "",
            "Boots a Linux guest with rdma_rxe, runs a shell command in it (\"a; b\" in quotes for several), and exits with its exit code.",
            ""
        },
        footer = {
            "",
            "The host side is 10.88.0.1, fd00:88::1; the guest is 10.88.0.2, fd00:88::2 with the RDMA device rxe0, and with --hardware"
                    + " also 10.90.0.2, fd00:90::2 with siw0.",
            "",
            "examples:",
            "  checks/interop/guest rdma link show",
            "  checks/interop/guest 'rping -s -a 10.88.0.2 & sleep 1; rping -c -a 10.88.0.2 -C 3 -v'",
            "  checks/interop/guest --host bash        a host shell in the namespace; ping 10.88.0.2, tcpdump -i tap0, ...",
            "  checks/interop/guest --hardware --keep &",
            "  checks/interop/guest --use ./rdma4j ibv_devices"
        })
public final class GuestMain implements Callable<Integer> {
    private static final String CALL =
            Main.HOME.resolve("checks/interop/lib/guest-call").toString();

    /** The alternatives to running one command in a guest. */
    private static final class Mode {
        @Option(names = "--shell", description = "read commands from standard input, one a line, until its end")
        private boolean shell;

        @Option(
                names = "--host",
                description = "run the command on the host, inside the namespace, while the guest is up")
        private boolean host;

        @Option(names = "--keep", description = "keep a guest running until this command is interrupted")
        private boolean keep;

        @Option(
                names = "--use",
                description =
                        "run the shell command in the guest that another checks/interop/guest keeps running, in the present"
                                + " directory; the guest sees the files that have changed since")
        private boolean use;

        @Option(names = "--use-host", description = "run the command on the host, inside that guest's namespace")
        private boolean useHost;
    }

    @ArgGroup
    private Mode mode = new Mode();

    @Option(names = "--mtu", paramLabel = "N", description = "MTU of the link (default 1500)")
    private int mtu = 1500;

    @Option(names = "--hardware", description = "a guest with memory for Java, and with the iWARP device siw0")
    private boolean hardware;

    @Option(
            names = "--kernel",
            paramLabel = "SERIES",
            description = "6.1 (default) or 6.12, which checks/interop/setup --hardware unpacks")
    private String series = "6.1";

    @Option(names = "--newer", description = "6.12 with the RDMA programs of Debian 13")
    private boolean newer;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "the command")
    private List<String> command = new ArrayList<>();

    private GuestMain() {}

    /** Runs the command and exits with the status of the guest's command, or 2 if it could not start. */
    public static void main(String[] arguments) {
        Main.execute(new GuestMain(), arguments);
    }

    @Override
    @SuppressWarnings("try") // closing may throw InterruptedException, like this method
    public Integer call() throws IOException, InterruptedException {
        if (command.isEmpty() && !mode.shell && !mode.keep) {
            throw new IOException("a command is missing; see checks/interop/guest --help");
        }
        if (mode.use || mode.useHost) {
            Host host = kept();
            var _ = show(
                    host, "echo 3 >/proc/sys/vm/drop_caches"); // the guest keeps what it has read of the host's files
            String folder = Guest.quoted(System.getProperty("user.dir"));
            return mode.useHost
                    ? onHost(host)
                    : show(host, "cd " + folder + " && { " + String.join(" ", command) + "\n}");
        }
        GuestKernel kernel = GuestKernel.of(newer ? "6.12" : series);
        kernel = newer ? kernel.withDebian13() : kernel;
        kernel = hardware ? kernel.withSiw() : kernel;
        Setting.Inside inside = hardware ? new Setting.Inside(false, List.of()) : null;
        Setting setting = new Setting(Main.HOME, kernel, mtu, false, false, inside);
        Main.requireSetUp(setting, true);
        Host.removeStale();
        Path folder = CaseRun.newFolder(Main.LOGS, "-guest");
        try (World world = new World(setting, folder, true)) {
            Files.delete(folder.resolve("initramfs"));
            Host host = world.host(Side.HOST);
            if (mode.keep) {
                keep(world.guest(), folder);
            }
            return mode.shell ? readCommands(host) : mode.host ? onHost(host) : show(host, String.join(" ", command));
        }
    }

    private static void keep(Guest guest, Path folder) throws IOException, InterruptedException {
        long pid = ProcessHandle.current().pid();
        System.out.println("Its console is " + folder + "/guest.log. End this process (" + pid + ") to stop it.");
        while (guest.answers()) {
            Thread.sleep(Duration.ofSeconds(10));
        }
        throw new IOException("the guest does not answer any more");
    }

    private static int readCommands(Host host) throws IOException, InterruptedException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String prompt = Command.show(List.of("test", "-t", "0")) == 0 ? "guest# " : "";
        int status = 0;
        System.err.print(prompt);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            status = show(host, line);
            System.err.print(prompt);
        }
        return status;
    }

    private int onHost(Host host) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(host.prefix());
        words.addAll(List.of("env", "INTEROP_GUEST_CALL=" + CALL + " " + World.GUEST.ip4()));
        words.addAll(command);
        return Command.show(words);
    }

    /** Runs a script in the guest at a host's tap, with its output on that of this process, and returns its status. */
    static int show(Host host, String script) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(host.prefix());
        words.addAll(List.of(CALL, World.GUEST.ip4(), script));
        return Command.show(words);
    }

    /** Returns the host of the guest that was kept last. */
    private static Host kept() throws IOException {
        return ProcessHandle.allProcesses()
                .filter(process -> List.of(process.info().arguments().orElse(new String[0]))
                        .containsAll(List.of(GuestMain.class.getName(), "--keep")))
                .max(comparing(process -> process.info().startInstant().orElse(Instant.MIN)))
                .map(process -> Host.of(process.pid(), World.HOST_NAME))
                .orElseThrow(
                        () -> new IOException("no guest is kept running: start checks/interop/guest --keep first"));
    }
}
