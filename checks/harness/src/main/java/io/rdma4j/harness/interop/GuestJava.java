package io.rdma4j.harness.interop;

import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Side.FAR;
import static io.rdma4j.harness.interop.Side.INSIDE;
import static io.rdma4j.harness.interop.Side.LINUX;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Host;
import io.rdma4j.harness.PerftestTable;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Java in the guest, with the JDK and the classes of this host. */
final class GuestJava {
    /** With the second compiler, an emulated processor needs a fifth longer for a short program. */
    private static final String FIRST_COMPILER = "-XX:TieredStopAtLevel=1";

    /** The percentage of their load that the load tests of conformance put on a device here. */
    private static final String LOAD = "2";

    private final Path home;
    private final List<String> classes;
    private String classPath = "";

    /**
     * Creates the cases.
     *
     * @param classes the classes of the conformance tests, or none for all
     */
    GuestJava(Path home, List<String> classes) {
        this.home = home;
        this.classes = classes;
    }

    /** Adds the cases of a device without a second side. */
    void define(HardwareCases.Place at) {
        at.add("ibv_devinfo", "the lines of C", GuestJava::printsWhatCPrints);
        at.add("conformance", "no failure", 3600, this::conforms);
        at.add("netty", "echoes 4 MB", 180, this::echoes);
        at.add("examples", "they end with 0", 300, GuestJava::runsExamples);
    }

    // ---- what the cases need

    /** Builds what some cases need: the guest has neither the time nor the memory. */
    void prepare(List<Case> cases) throws IOException, InterruptedException {
        if (has(cases, "same-command|soft/chosen|[a-z]+/examples")) {
            var _ = output(home.resolve("examples/run").toString(), "WhichDevice");
        }
        if (has(cases, "[a-z]+/(conformance|netty)")) {
            String script = Files.readString(home.resolve("checks/conformance/run"));
            String modules = script.replaceFirst("(?s).*\nmodules=\"(.*?)\".*", "$1");
            List<String> words =
                    new ArrayList<>(List.of(home.resolve(".ci/class-path").toString(), "conformance"));
            words.addAll(List.of(modules.split(" ", -1)));
            classPath = output(words.toArray(String[]::new)).strip();
        }
    }

    private static boolean has(List<Case> cases, String regex) {
        return cases.stream().anyMatch(each -> each.name().matches(regex));
    }

    private static String output(String... words) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", words) + " failed: " + text.strip());
        }
        return text;
    }

    private static List<String> options() {
        String more =
                System.getenv().getOrDefault("RDMA4J_INTEROP_JAVA_OPTS", "").strip();
        return more.isEmpty() ? List.of(FIRST_COMPILER) : List.of((FIRST_COMPILER + " " + more).split(" +", -1));
    }

    /** Returns the environment of Java's tools in the guest, which use the device of the address or the given one. */
    static List<String> environment(@Nullable String device) {
        List<String> environment =
                new ArrayList<>(List.of("RDMA4J_JAVA_OPTS=" + String.join(" ", options()), "LC_ALL=C.UTF-8"));
        if (device != null) {
            environment.add("RDMA4J_DEVICE=" + device);
        }
        return environment;
    }

    /** Starts the JDK's java in the guest, in the folder of the checkout. Its class path may have any folder of this host. */
    static RunningProcess start(InteropStage stage, String label, List<String> words)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(stage.world.programs.jdk("java"), "-XX:+UseSerialGC"));
        command.addAll(options());
        command.addAll(List.of("-XX:-UsePerfData", "-Djava.net.preferIPv6Addresses=system"));
        command.addAll(words);
        return stage.startCommand(label, INSIDE, stage.insideWords(command));
    }

    // ---- the programs of the host

    /** Java in the guest starts, and finds the program of the host. */
    static void starts(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        long begin = System.nanoTime();
        start(stage, "java", List.of("--version")).requireSuccess().requirePrints("^openjdk (2[5-9]|[3-9])");
        remarkTime(stage, "java --version", begin);
        begin = System.nanoTime();
        InteropStage.requireQuiet(stage.start("devices", INSIDE, "ibv_devices").requireSuccess());
        remarkTime(stage, "ibv_devices", begin);
    }

    private static void remarkTime(InteropStage stage, String command, long beginNanos) {
        stage.stage.remark(String.format(Locale.ROOT, "%s %.1f s", command, (System.nanoTime() - beginNanos) / 1e9));
    }

    /** C and Java print the same lines about a device of the kernel. */
    private static void printsWhatCPrints(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        RunningProcess c = stage.start("c", LINUX, "ibv_devinfo", "-v", "-d", stage.device());
        c.requireSuccess();
        RunningProcess java = stage.start("java", INSIDE, "ibv_devinfo", "-v", "-d", stage.device());
        InteropStage.requireQuiet(java.requireSuccess());
        InteropStage.requireOut(java, c.out().lines().toList());
        stage.stage.remark(c.out().lines().count() + " lines");
    }

    /** The conformance tests of verbs, connections and RDMA sockets on a device: see checks/conformance/run --help. */
    private void conforms(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("-Djava.net.preferIPv6Addresses=false"));
        words.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath));
        words.addAll(List.of("io.rdma4j.conformance.run.Main", "--device", stage.device()));
        words.addAll(List.of("--load", LOAD, "--verbose"));
        words.addAll(classes);
        RunningProcess conformance = start(stage, "conformance", words);
        conformance.awaitEnd();
        String device = stage.device();
        Files.writeString(stage.world.folder.resolve("conformance-" + device + ".txt"), conformance.out());
        List<String> lines = conformance.out().lines().toList();
        lines.stream()
                .dropWhile(line -> !line.startsWith("class  "))
                .forEach(line -> System.out.println("    " + line));
        lines.stream()
                .filter(line -> line.startsWith("all of "))
                .map(line -> line.split(" +", -1))
                .forEach(columns -> stage.stage.remark(
                        "passed, failed, lacking: " + columns[3] + ", " + columns[4] + ", " + columns[5]));
        conformance.requireSuccess().requirePrints("^all of " + device + "  *[1-9][0-9]* +0 ");
    }

    // ---- examples

    /** Runs an example, with a device as the user's choice if that is not empty. */
    private static RunningProcess example(InteropStage stage, Side side, String label, String device, String... words)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("env", "JDK_JAVA_OPTIONS=-XX:+UseSerialGC " + FIRST_COMPILER));
        if (!device.isEmpty()) {
            command.add("RDMA4J_DEVICE=" + device);
        }
        command.add(stage.setting.home().resolve("examples/run").toString());
        command.addAll(List.of(words));
        RunningProcess example = stage.startCommand(label, side, command);
        example.awaitEnd();
        return example;
    }

    /** Runs the example WhichDevice, whose server and client have to use a device. */
    private static void usesDevice(InteropStage stage, Side side, String choice, String address, String device)
            throws CaseFailure, IOException, InterruptedException {
        String label = side + "-" + (choice.isEmpty() ? "by-address" : choice);
        example(stage, side, label, choice, "WhichDevice", "--", address)
                .requireSuccess()
                .requirePrints("^client: " + device + " on ")
                .requirePrints("^server: written by " + device + "$");
    }

    /**
     * The examples whose clients come, go and fail, at the address of a device. siw has queues for few clients, no atomic
     * operations, and as iWARP no wait for a receive, which FileReplicator needs.
     */
    private static void runsExamples(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        List<String> names = stage.device().equals("siw0")
                ? List.of("RequestResponse")
                : List.of("RequestResponse", "FileReplicator", "KeyValueStore", "DistributedLock");
        for (String name : names) {
            String address = stage.address(INSIDE, V4);
            example(stage, INSIDE, name, stage.device(), name, "--", address, "8")
                    .requireSuccess();
        }
        stage.stage.remark(String.join(" ", names));
    }

    /** One command with one address, on a host that has the address on an interface without a device, and in the guest. */
    static void usesTheDeviceOfTheAddress(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(INSIDE, V4);
        Host far = stage.world.host(FAR);
        far.run("ip", "addr", "add", address + "/24", "dev", "far0");
        try {
            usesDevice(stage, FAR, "", address, "rdma4j_far0");
            example(stage, FAR, "hardware", "hardware", "WhichDevice", "--", address)
                    .requireStatus(1)
                    .requireComplains(
                            "the provider hardware, which --device or RDMA4J_DEVICE requests, has no RDMA device");
        } finally {
            far.run("ip", "addr", "del", address + "/24", "dev", "far0");
        }
        usesDevice(stage, INSIDE, "", address, "rxe0");
        usesDevice(stage, INSIDE, "rxe0", address, "rxe0");
    }

    /** The guest without rxe0: the address of siw0 uses siw0, or the software device if the user asks for it. */
    static void usesTheChosenDevice(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String address = World.IWARP.ip4();
        usesDevice(stage, INSIDE, "", address, "siw0");
        usesDevice(stage, INSIDE, "soft", address, "rdma4j_iwarp0");
    }

    /** Runs a case while the guest's kernel has no RoCE device: the same commands then use the software device in the guest. */
    static InteropCases.Body withoutRxe(InteropCases.Body body) {
        return stage -> {
            stage.world.guest().require("the guest cannot remove rxe0", "rdma link delete rxe0 && rmmod rdma_rxe");
            stage.insideIsSoft(true);
            try {
                body.run(stage);
            } finally {
                stage.world.endGuestPrograms(); // the module needs the UDP port
                String modules = stage.setting.kernel().folder() + "/lib/modules/$(uname -r)";
                stage.world
                        .guest()
                        .require(
                                "the guest cannot create rxe0 again",
                                "insmod " + modules + "/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko*"
                                        + " && rdma link add rxe0 type rxe netdev eth0");
            }
        };
    }

    // ---- a program that knows nothing of RDMA

    /** 4 MB to an echo server of Netty and back, by "rdma4j run". The kernel's device, where there is one, must have carried them. */
    void echoes(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        long before = packets(stage);
        RunningProcess server = netty(stage, stage.server, "server", stage.address(stage.server, V4));
        stage.awaitLine(server, "ready");
        RunningProcess client = netty(stage, stage.client, "client", stage.serverAddress(V4));
        client.requireSuccess().requirePrints("^echoed 4000000 bytes");
        if (stage.device().equals("rxe0")) {
            long sent = packets(stage) - before;
            Stage.require(sent > 2000, "rxe0 sent only " + sent + " packets");
            stage.stage.remark("rxe0 sent " + sent + " packets");
        }
        server.signal("INT");
        InteropStage.requireEnd(server, 30);
    }

    private RunningProcess netty(InteropStage stage, Side side, String role, String address)
            throws IOException, InterruptedException {
        String java = stage.world.programs.jdk("java");
        List<String> words =
                new ArrayList<>(List.of("env", "PATH=" + Path.of(java).getParent() + ":" + System.getenv("PATH")));
        words.add("JDK_JAVA_OPTIONS=-XX:+UseSerialGC " + FIRST_COMPILER);
        // "rdma4j run" adds the modules.
        String libraries = Arrays.stream(classPath.split(":", -1))
                .filter(each -> !each.endsWith("/target/classes"))
                .collect(Collectors.joining(":"));
        words.addAll(List.of(
                stage.setting.launcher().command(), "run", "--rules", "*=rdma", "--", "java", "-cp", libraries));
        words.addAll(List.of("io.rdma4j.conformance.programs.NettyEcho", role, address, Integer.toString(Rping.PORT)));
        return stage.startCommand(role, side, words);
    }

    /** Returns the packets that rxe0 has sent since it was created. */
    private static long packets(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String figures =
                stage.world.guest().call("rdma statistic show link rxe0/1").output();
        return Pattern.compile("sent_pkts (\\d+)")
                .matcher(figures)
                .results()
                .mapToLong(match -> Long.parseLong(match.group(1)))
                .sum();
    }

    // ---- the cost of Java

    /**
     * One test with C on both sides and with Java on both sides, one after the other, on one device. Java warms up before, with both
     * compilers. The last column has both figures and their ratio.
     */
    static InteropCases.Body overhead(String tool, int size, int count, String options) {
        return stage -> {
            String all = "-R -n " + count + options;
            double c = figure(stage.with(new Roles(LINUX, LINUX)), tool, size, count, all);
            // An empty variable: with both compilers.
            InteropStage java = stage.with(HardwareCases.INSIDE).warmedUp().environment("RDMA4J_JAVA_OPTS=");
            stage.stage.remark("Java by C: %.2f".formatted(figure(java, tool, size, count, all) / c));
        };
    }

    private static double figure(InteropStage stage, String tool, int size, int count, String options)
            throws CaseFailure, IOException, InterruptedException {
        Pair pair = PerftestCases.run(stage, tool, Integer.toString(size), Integer.toString(count), options);
        String figure = PerftestTable.figure(pair.client());
        stage.stage.remark((stage.isC(stage.client) ? "C " : "Java ") + figure);
        return Double.parseDouble(figure.replaceAll("[^0-9.]", ""));
    }
}
