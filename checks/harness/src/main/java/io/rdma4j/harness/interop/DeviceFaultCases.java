package io.rdma4j.harness.interop;

import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Side.HOST;
import static io.rdma4j.harness.interop.Side.INSIDE;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Faults of the guest's devices and of the programs that use them. The program DeviceFaults of {@code checks/interop/java} is both
 * ends of some connections. After each case the device has no objects of a program, also not of one that was killed.
 */
final class DeviceFaultCases {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Pattern END_OF_WRITES = Pattern.compile("(?m)^WRITES.*?([A-Z_]*_ERROR|after an event)");
    private static final Pattern LOST_AFTER = Pattern.compile("(LOST .*after-ms=\\d+)");
    private static final String PORT = Integer.toString(Rping.PORT);

    private DeviceFaultCases() {}

    static void define(HardwareCases.Place at) {
        add(at, "connections", "1000 opened and closed", 900, DeviceFaultCases::opensManyConnections);
        add(at, "arena", "stays open until its region is closed", 180, DeviceFaultCases::closesArenas);
        add(at, "deleted", "every wait ends", 180, DeviceFaultCases::deviceIsDeleted);
        for (Roles roles : Roles.both(INSIDE, Side.LINUX)) {
            add(at.with(roles), "deleted/rping", "device removal", 120, DeviceFaultCases::deviceOfRpingIsDeleted);
            add(at.with(roles), "kill-9/server", "the other side ends", 120, stage -> isKilled(stage, true));
            add(at.with(roles), "kill-9/client", "the other side ends", 120, stage -> isKilled(stage, false));
        }
        Roles clientInside = new Roles(Side.LINUX, INSIDE);
        add(at.with(clientInside), "locked-memory", "ENOMEM with the limit", 120, DeviceFaultCases::lacksLockedMemory);
        add(at, "no-permission", "explained", 120, DeviceFaultCases::lacksPermission);
    }

    /** Adds a case after which nothing is left on the device. */
    static void add(HardwareCases.Place at, String name, String expected, int seconds, InteropCases.Body body) {
        at.add("fault/" + name, expected, seconds, stage -> {
            String before = objects(stage);
            body.run(stage);
            if (!Stage.holdsWithin(
                    LIMIT, stage.setting.pause(), () -> objects(stage).equals(before))) {
                throw new CaseFailure("left on the device: " + objects(stage) + "; before: " + before);
            }
        });
    }

    /** Returns the numbers of domains, queues, connections and regions that programs have on the device. */
    private static String objects(InteropStage stage) throws IOException, InterruptedException {
        return stage.world
                .guest()
                .call("rdma resource show " + stage.device())
                .output()
                .replaceFirst("^\\d+: ", "")
                .strip();
    }

    // ---- connections of one program with itself

    private static List<String> program(InteropStage stage, String name, String... arguments)
            throws CaseFailure, IOException, InterruptedException {
        List<String> words =
                new ArrayList<>(List.of("--enable-native-access=io.rdma4j.link,io.rdma4j.hardware,io.rdma4j.verbs"));
        words.addAll(List.of("--module-path", stage.world.programs.modulePath()));
        words.addAll(List.of("--add-modules", "io.rdma4j.cm,io.rdma4j.soft,io.rdma4j.hardware"));
        words.addAll(List.of("-cp", stage.world.programs.compile(name), name));
        words.addAll(List.of(arguments));
        return words;
    }

    /** Runs a scenario of the program, which must end with 0. */
    private static RunningProcess scenario(InteropStage stage, String name, String... arguments)
            throws CaseFailure, IOException, InterruptedException {
        List<String> words = program(stage, "DeviceFaults", name, stage.address(INSIDE, V4));
        words.addAll(List.of(arguments));
        RunningProcess faults = GuestJava.start(stage, "faults", words);
        faults.awaitEnd();
        faults.out()
                .lines()
                .filter(line -> line.startsWith("WRONG") || line.startsWith("DESCRIPTORS"))
                .forEach(stage.stage::remark);
        InteropStage.requireQuiet(faults.requireSuccess());
        return faults;
    }

    private static void opensManyConnections(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        List<String> lines =
                scenario(stage, "connections", "1000").out().lines().toList();
        stage.stage.remark(lines.get(1).replace("CONNECTIONS ", ""));
    }

    private static void closesArenas(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        RunningProcess faults = scenario(stage, "arena").requirePrints("^ARENA refused: Session is acquired by");
        remarkFirst(stage, END_OF_WRITES, faults);
    }

    private static void remarkFirst(InteropStage stage, Pattern pattern, RunningProcess process) {
        pattern.matcher(process.out())
                .results()
                .map(match -> match.group(1))
                .findFirst()
                .ifPresent(stage.stage::remark);
    }

    /** The device is deleted while a program writes. The kernel deletes it when the program has closed it. */
    private static void deviceIsDeleted(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        try {
            RunningProcess faults = scenario(stage, "command", "rdma link delete " + stage.device());
            remarkFirst(stage, END_OF_WRITES, faults.requirePrints("^CLOSED"));
            requireAbsent(stage);
        } finally {
            create(stage);
        }
    }

    private static void requireAbsent(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String show = "rdma link show " + stage.device() + "/1";
        stage.await(LIMIT, () -> !stage.world.guest().call(show).succeeded(), "the kernel still has " + stage.device());
    }

    private static void create(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        boolean isSiw = stage.device().equals("siw0");
        String link = stage.device() + " type " + (isSiw ? "siw netdev iwarp0" : "rxe netdev eth0");
        stage.world.guest().require("the guest cannot create the device again", "rdma link add " + link);
    }

    // ---- tools

    private static RunningProcess serve(InteropStage stage, String... options)
            throws CaseFailure, IOException, InterruptedException {
        return Rping.serve(stage, V4, options);
    }

    /** Starts a client that pings until its connection ends, and waits until both sides are connected. */
    private static RunningProcess pingForever(InteropStage stage)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess client =
                stage.start("client", stage.client, "rping", "-c", "-a", stage.serverAddress(V4), "-p", PORT);
        // siw reports the state RESET of each queue pair.
        String count =
                "rdma resource show cm_id link " + stage.device() + "/1 | grep -c 'lqpn [0-9]* .*state CONNECT '";
        stage.await(
                Duration.ofSeconds(60),
                () -> stage.world.guest().call(count).output().strip().equals("2"),
                "there was no connection");
        return client;
    }

    /** The device of a server and its client is deleted: Java's tool says so, as C's does, and ends. C's server then waits on. */
    private static void deviceOfRpingIsDeleted(InteropStage stage)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = serve(stage);
        RunningProcess client = pingForever(stage);
        RunningProcess java = stage.server == INSIDE ? server : client;
        RunningProcess c = stage.server == INSIDE ? client : server;
        var _ = stage.world.guest().call("rdma link delete " + stage.device() + " >/dev/null 2>&1 &");
        try {
            InteropStage.requireEnd(java, 60);
            // As C's, it ends with 0 if it heard of the peer's disconnect before.
            if (java.complains("DISCONNECT EVENT")) {
                stage.requireStatusOr(java, 0, 255);
            } else {
                java.requireStatus(255);
            }
            java.requireComplains("^cma detected device removal!!!!$");
            if (!c.endsWithin(Duration.ofSeconds(5))) {
                c.signal("KILL");
            }
            InteropStage.requireEnd(c, 10);
            requireAbsent(stage);
        } finally {
            create(stage);
        }
    }

    /** One side is killed while it pings. The kernel disconnects for it, and the other side ends. */
    private static void isKilled(InteropStage stage, boolean isServer)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = serve(stage);
        RunningProcess client = pingForever(stage);
        RunningProcess survivor = isServer ? client : server;
        Thread.sleep(Duration.ofSeconds(1));
        (isServer ? server : client).signal("KILL");
        InteropStage.requireEnd(survivor, 60);
        stage.requireStatusOr(survivor, 0, 255);
        survivor.requireComplains("^" + survivor.label() + " DISCONNECT EVENT\\.\\.\\.$");
    }

    /** Starts the launcher in the guest as a user without rights, by a command before it. Blanks separate the words. */
    private static RunningProcess unprivileged(InteropStage stage, String label, String before, String command)
            throws IOException, InterruptedException {
        String user = "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all ";
        List<String> words = new ArrayList<>(List.of((user + before).split(" ", -1)));
        words.add(stage.setting.launcher().command());
        words.addAll(List.of(command.split(" ", -1)));
        return stage.startCommand(label, INSIDE, stage.insideWords(words));
    }

    /** The limit of locked memory is too low for the buffers of a client. */
    private static void lacksLockedMemory(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = serve(stage, "-S", "65535");
        String client = "rping -c -a " + stage.serverAddress(V4) + " -p " + PORT + " -S 65535 -C 1";
        unprivileged(stage, "client", "prlimit --memlock=65536:65536", client)
                .requireStatus(12) // as C's
                .requireComplains("ENOMEM.*|.*locks memory, of which this process may have 65536")
                .requireComplains("ulimit -l");
        server.signal("INT");
        InteropStage.requireEnd(server, 30);
    }

    /** A user who may not open the files of the devices. */
    private static void lacksPermission(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        stage.world.guest().require("the guest cannot change the permissions", "chmod 600 /dev/infiniband/*");
        try {
            String device = "env RDMA4J_DEVICE=" + stage.device();
            unprivileged(stage, "server", device, "rping -s -a " + stage.address(INSIDE, V4))
                    .requireStatus(255)
                    .requireComplains("[Pp]ermission");
            RunningProcess doctor = unprivileged(stage, "doctor", "env", "doctor");
            doctor.requireEnd();
            doctor.requirePrints(stage.device() + ".*[Pp]ermission");
        } finally {
            var _ = stage.world.guest().call("chmod 666 /dev/infiniband/*");
        }
    }

    // ---- the link

    /**
     * The guest's link is down for 20 s while messages go to the software device of the host and back. The host's side loses its peer.
     * rxe cannot send on an interface that is down, and fails at once; it is disconnected when the link is up again.
     */
    static void linkIsDown(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(HOST, V4);
        RunningProcess server = stage.startProgram("server", HOST, "Peer", "serve", address, PORT, "ack=14", "patient");
        stage.awaitLine(server, " LISTENING");
        RunningProcess client =
                GuestJava.start(stage, "client", program(stage, "Peer", "connect", address, PORT, "ack=14"));
        stage.awaitLine(server, " CONNECTED");
        Thread.sleep(Duration.ofSeconds(2));
        // The command channel has this link, too: the guest raises it by itself, with the addresses that the kernel has
        // removed.
        String down = "sleep 1; ip link set eth0 down; sleep 20; ip link set eth0 up; ip -6 addr add ";
        var _ = stage.world.guest().call("(" + down + World.GUEST.ip6() + "/64 dev eth0 nodad) >/dev/null 2>&1 &");
        InteropStage.requireEnd(client, 180);
        InteropStage.requireEnd(server, 60);
        server.requireStatus(3).requirePrints("LOST lost=RETRY_EXCEEDED_ERROR");
        client.requireStatus(1) // for Peer, another status than that of a lost peer is wrong
                .requirePrints("completion of a send: LOCAL_QUEUE_PAIR_OPERATION_ERROR")
                .requirePrints(" flushed-receives=32 ")
                .requirePrints("DISCONNECTED status=0");
        remarkFirst(stage, LOST_AFTER, server);
    }
}
