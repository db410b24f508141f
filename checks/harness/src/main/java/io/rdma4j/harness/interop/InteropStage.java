package io.rdma4j.harness.interop;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A stage on the hosts and guests of a run, with the sides of a server and its client. */
final class InteropStage {
    /** The software device of the host that has the tap. */
    static final String EXEC_DEVICE = "rdma4j_tap0";

    /** The tools that would warm up for three seconds before they measure. */
    private static final Pattern MEASURING = Pattern.compile("ib_.*|rstream|riostream|udpong|cmtime");

    private static final String WARM_UP = ": warmed up for [0-9.]* s ";

    final Stage stage;
    final World world;
    final Setting setting;
    final Side server;
    final Side client;
    private String device = "rxe0";
    private boolean insideIsSoft;
    private boolean warmsUp;
    private List<String> environment = List.of();

    InteropStage(Stage stage, World world, Roles roles) {
        this.stage = stage;
        this.world = world;
        setting = world.setting;
        server = roles.server();
        client = roles.client();
        warmsUp = setting.warmsUp();
    }

    // ---- the variants of a case

    /** Selects the kernel's device, rxe0 or siw0, that the sides in the guest use. */
    InteropStage on(String name) {
        device = name;
        return this;
    }

    /** Returns the kernel's device that the sides in the guest use. */
    String device() {
        return device;
    }

    /** Sets whether Java in the guest uses the software device. */
    void insideIsSoft(boolean value) {
        insideIsSoft = value;
    }

    /** Lets Java's measuring tools warm up. */
    InteropStage warmedUp() {
        warmsUp = true;
        return this;
    }

    /** Sets variables of Java in the guest, in addition to those of the run. */
    InteropStage environment(String... variables) {
        environment = List.of(variables);
        return this;
    }

    /** Returns a stage on the same device with other sides. */
    InteropStage with(Roles roles) {
        return new InteropStage(stage, world, roles).on(device);
    }

    /** Lets no tool warm up, also with {@code --warm-up}. */
    void notWarmedUp() {
        warmsUp = false;
    }

    /** Runs another case while packets are lost, delayed, reordered or duplicated. */
    void under(Fault fault, InteropCases.Body body) throws CaseFailure, IOException, InterruptedException {
        world.begin(fault);
        try {
            body.run(this);
        } finally {
            stage.remark(world.end(fault) + " packets dropped");
        }
    }

    // ---- sides

    boolean isC(Side side) {
        return setting.isC(side);
    }

    boolean isInGuest(Side side) {
        return setting.isInGuest(side);
    }

    /** Returns whether a side uses the kernel's device and not the software device. */
    boolean usesKernel(Side side) {
        return isC(side) || (side == Side.INSIDE && !insideIsSoft);
    }

    /** Returns the address of a side, for use on that side. */
    String address(Side side, Family family) {
        return address(side, family, side);
    }

    /** Returns the address of a side for use on another side, whose interface a link-local address names. */
    String address(Side side, Family family, Side user) {
        World.Addresses addresses = switch (side) {
            case NEAR -> World.NEAR;
            case FAR -> World.FAR;
            case HOST, EXEC -> World.HOST;
            case LINUX, INSIDE -> device.equals("siw0") ? World.IWARP : World.GUEST;
        };
        return switch (family) {
            case LO4 -> "127.0.0.1";
            case LO6 -> "::1";
            case V4 -> addresses.ip4();
            case V6 -> addresses.ip6();
            case LL -> addresses.linkLocal() + "%" + network(user, 0);
            case TWIN -> addresses.linkLocal() + "%" + network(user, 1);
        };
    }

    /** Returns the address of the server as the client uses it. */
    String serverAddress(Family family) {
        return address(server, family, client);
    }

    private String network(Side side, int link) {
        return switch (side) {
            case NEAR -> "near" + link;
            case FAR -> "far" + link;
            case EXEC -> "tap0";
            case HOST -> setting.isPeerC() ? "eth0" : "tap0";
            case LINUX, INSIDE -> device.equals("siw0") ? "iwarp0" : "eth0";
        };
    }

    /** Runs a shell script on a side until it ends, as root. It has to succeed. */
    String shell(Side side, String script) throws CaseFailure, IOException, InterruptedException {
        if (isInGuest(side)) {
            return world.guest(side).require("the guest fails", script);
        }
        return world.host(side).run("sh", "-c", script);
    }

    // ---- processes

    /** Returns a file of the case. */
    Path file(String name) {
        return stage.folder().resolve(name);
    }

    /** Starts a tool of this project or of rdma-core. */
    RunningProcess start(String label, Side side, String tool, String... arguments)
            throws IOException, InterruptedException {
        return start(label, side, tool, List.of(arguments));
    }

    RunningProcess start(String label, Side side, String tool, List<String> arguments)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>();
        if (isC(side) || side == Side.EXEC) {
            // A C tool buffers its output to a file or a pipe until it exits, and loses it when it is killed.
            words.addAll(List.of("stdbuf", "-oL", tool));
        } else {
            words.addAll(List.of(setting.launcher().command(), tool));
        }
        words.addAll(arguments);
        if (!isC(side)
                && side != Side.EXEC
                && !warmsUp
                && MEASURING.matcher(tool).matches()) {
            words.add("--no-warm-up");
        }
        if (side == Side.INSIDE && !isC(side)) {
            return startCommand(label, side, insideWords(words));
        }
        return startCommand(label, side, side == Side.EXEC ? execWords(List.of("--no-warm-up"), words) : words);
    }

    /** Returns the words that run a command in the checkout, with the environment of Java in the guest. */
    List<String> insideWords(List<String> command) {
        List<String> words = new ArrayList<>(List.of("env", "-C", setting.home().toString()));
        if (setting.inside() != null) {
            words.addAll(setting.inside().environment());
        }
        words.addAll(environment);
        words.addAll(command);
        return words;
    }

    /** Starts any command on a side. */
    RunningProcess startCommand(String label, Side side, List<String> words) throws IOException {
        if (isInGuest(side)) {
            return stage.start(label, world.guest(side), words);
        }
        List<String> prefix = new ArrayList<>(world.host(side).prefix());
        // A shell that started this run in the background has had SIGINT ignored, and a JVM does not change that.
        prefix.addAll(List.of("env", "--default-signal=INT,QUIT"));
        return stage.start(label, prefix, words);
    }

    /** Starts a program of {@code checks/interop/java} on a host. */
    RunningProcess startProgram(String label, Side side, String program, String... arguments)
            throws CaseFailure, IOException, InterruptedException {
        return startCommand(label, side, world.programs.words(program, arguments));
    }

    /** Returns the words that run a command by {@code rdma4j exec} as an ordinary user, with 64 KiB of locked memory. */
    List<String> execWords(List<String> options, List<String> command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("prlimit", "--memlock=65536:65536", "--core=0"));
        String group = Command.run(List.of("id", "-g", "nobody")).strip();
        words.addAll(List.of("setpriv", "--reuid", "nobody", "--regid", group, "--clear-groups"));
        words.addAll(List.of("env", "-u", "XDG_RUNTIME_DIR", "HOME=/nonexistent"));
        words.addAll(List.of(setting.launcher().command(), "exec"));
        words.addAll(options);
        words.add("--");
        words.addAll(command);
        return words;
    }

    /** Returns the index of the GID of an address in the table of the device that a C tool of this side opens. */
    int gidIndex(Side side, Family family) throws CaseFailure, IOException, InterruptedException {
        String address = address(side, family).replaceFirst("%.*", "");
        String devinfo = "ibv_devinfo -v -d ";
        String text;
        if (side == Side.EXEC) {
            List<String> words = execWords(List.of(), List.of("ibv_devinfo", "-v", "-d", EXEC_DEVICE));
            text = world.host(side).run(words.toArray(String[]::new));
        } else {
            text = world.guest(side).require("ibv_devinfo fails", devinfo + device);
        }
        Pattern entry = Pattern.compile(
                "GID\\[ *(\\d+)\\]:\\s*(?:::ffff:)?" + Pattern.quote(address) + "(,|$)", Pattern.MULTILINE);
        return entry.matcher(text)
                .results()
                .map(match -> Integer.parseInt(match.group(1)))
                .findFirst()
                .orElseThrow(() -> new CaseFailure("the device has no GID of " + address));
    }

    // ---- waiting

    /** Waits until a condition holds, within the time that a program of this run may take to start. */
    void awaitStart(Stage.Condition condition, String reason) throws CaseFailure, IOException, InterruptedException {
        await(
                setting.startLimit(),
                condition,
                reason + " within " + setting.startLimit().toSeconds() + " s");
    }

    /** Waits until a condition holds. */
    void await(Duration most, Stage.Condition condition, String reason)
            throws CaseFailure, IOException, InterruptedException {
        Stage.require(Stage.holdsWithin(most, setting.pause(), condition), reason);
    }

    /**
     * Waits until a server listens with the connection manager.
     *
     * @param address its address, or an empty text for any
     */
    void awaitListener(RunningProcess process, Side side, int port, String address)
            throws CaseFailure, IOException, InterruptedException {
        awaitStart(
                () -> process.hasEnded() || listens(process, side, port, address),
                "the " + process.label() + " did not listen on port " + port);
        requireRunning(process);
    }

    private boolean listens(RunningProcess process, Side side, int port, String address)
            throws IOException, InterruptedException {
        String plain = address.replaceFirst("%.*", "");
        if (isInGuest(side)) {
            // Only the software device has a socket of its own.
            String look = usesKernel(side)
                    ? "rdma resource show cm_id | grep -q 'LISTEN.*:" + port + " '"
                    : "ss -lunH | grep -q '" + plain + ".*:4791 ' && sleep 1";
            return world.guest(side).call(look).succeeded();
        }
        // A listening server has a UDP socket at its address: on port 4791 or, if another process has bound that, on
        // another port. The pause after that covers the remaining steps.
        Pattern socket = Pattern.compile(Pattern.quote(plain) + "\\]?(%[a-z0-9]+)?\\]?:[0-9]+$");
        boolean listens = udpSockets(process, side).stream()
                .anyMatch(each -> socket.matcher(each).find());
        if (listens) {
            Thread.sleep(Duration.ofMillis(300));
        }
        return listens;
    }

    /** Returns the local ends of the UDP sockets of a process on a host. */
    List<String> udpSockets(RunningProcess process, Side side) throws IOException, InterruptedException {
        List<String> pids =
                process.pids().stream().map(pid -> "pid=" + pid + ",").toList();
        return world.host(side)
                .run("ss", "-lunpH")
                .lines()
                .filter(line -> pids.stream().anyMatch(line::contains))
                .map(line -> line.strip().split("\\s+", -1)[3])
                .toList();
    }

    /** Returns whether a process owns the UDP port of RoCE at its address. */
    boolean ownsPort(RunningProcess process, Side side) throws IOException, InterruptedException {
        return udpSockets(process, side).stream().anyMatch(each -> each.endsWith(":4791"));
    }

    /** Waits until a process has printed a line with a match, or has ended. */
    void awaitLine(RunningProcess process, String regex) throws CaseFailure, IOException, InterruptedException {
        awaitStart(
                () -> process.hasEnded() || process.prints(regex),
                "the " + process.label() + " did not print '" + regex + "'");
    }

    // ---- expectations

    /** Requires that a process has not ended. */
    static void requireRunning(RunningProcess process) throws CaseFailure, InterruptedException {
        Stage.require(!process.hasEnded(), "the " + process.label() + " ended before its time");
    }

    /** Requires that a process ends in time. */
    static void requireEnd(RunningProcess process, int seconds) throws CaseFailure, InterruptedException {
        Stage.require(
                process.endsWithin(Duration.ofSeconds(seconds)),
                "the " + process.label() + " did not end within " + seconds + " s");
    }

    /** Ends a server by SIGINT, which it has to obey. */
    static void interrupt(RunningProcess process) throws CaseFailure, IOException, InterruptedException {
        requireRunning(process);
        process.signal("INT");
        Stage.require(process.endsWithin(Duration.ofSeconds(10)), "the " + process.label() + " did not end on SIGINT");
    }

    /** Waits for a process to end with a status, or with another one, which is remarked. */
    void requireStatusOr(RunningProcess process, int expected, int other) throws CaseFailure, InterruptedException {
        if (process.awaitEnd() == other) {
            stage.remark("the " + process.label() + " ended with " + other);
        } else {
            process.requireStatus(expected);
        }
    }

    /** Requires exactly these lines of standard output. */
    static void requireOut(RunningProcess process, List<String> lines) throws CaseFailure {
        requireText(process.label() + ".out", process.out(), lines);
    }

    /** Requires exactly these lines of standard error. */
    static void requireErr(RunningProcess process, List<String> lines) throws CaseFailure {
        requireText(process.label() + ".err", process.err(), lines);
    }

    private static void requireText(String name, String text, List<String> lines) throws CaseFailure {
        String expected = lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
        Stage.require(text.equals(expected), name + " is not what it must be");
    }

    /** Requires that standard error is empty, except for the line about a warm-up. */
    static void requireQuiet(RunningProcess process) throws CaseFailure {
        Pattern warmUp = Pattern.compile(WARM_UP);
        Stage.require(
                process.err().lines().allMatch(line -> warmUp.matcher(line).find()),
                process.label() + ".err is not empty");
    }

    /** Requires a number of milliseconds between two limits. */
    static void requireBetween(String what, long millis, long low, long high) throws CaseFailure {
        Stage.require(
                millis >= low && millis <= high, what + " took " + millis + " ms, expected " + low + " to " + high);
    }
}
