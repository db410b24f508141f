package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.LL;
import static io.rdma4j.harness.interop.Family.LO4;
import static io.rdma4j.harness.interop.Family.LO6;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The two tools of the name cmtime: the classic one of rdma-core 44, and the one of rdma-core 61, with a mesh of controllers. */
final class CmtimeCases {
    /** The newer tool in C, if the guest has one: the host's rdma-core 44 has the older one. */
    private static final @Nullable String NEWER = System.getenv("INTEROP_CMTIME");

    private static final List<String> CLASSIC_LINES = """
            creating id
            resolving address
            resolving route
            creating qp
            connecting
            disconnecting
            destroying id
            step              total ms     max ms     min us  us / conn
            create id    :
            resolve addr :
            resolve route:
            create qp    :
            connect      :
            disconnect   :
            destroy      :
            """.lines().toList();

    private static final List<String> ACCEPTING = List.of("Accepting", "Allocating verbs resources", "Disconnecting");

    private static final List<String> CONNECTING = List.of(
            "Creating IDs",
            "Binding addresses",
            "Resolving addresses",
            "Resolving routes",
            "Creating QPs",
            "Allocating verbs resources",
            "Modify QPs to INIT",
            "Connecting",
            "Disconnecting",
            "Destroying QPs",
            "Destroying IDs");

    private static final String MESH_TABLE = """
            threads                 1
            step             avg/conn  total(us)    us/conn    sum(us)    max(us)    min(us)
            full connect :
            create id :
            bind addr :
            resolve addr :
            resolve route :
            create qp :
            init qp attr :
            init qp :
            rtr qp attr :
            rtr qp :
            rts qp attr :
            rts qp :
            cm connect :
            establish :
            disconnect :
            destroy id :
            destroy qp :
            """;

    private CmtimeCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 60);
        if (cases.setting.isDebian13()) {
            rows.cannot(
                    "cmtime", "cmtime of rdma-core 45 to 60 has a protocol of its own; Java has those of 44 and of 61");
            return;
        }
        for (int count : List.of(1, 10, 64)) {
            var extent = count == 64 ? QUICK : FULL;
            rows.add("cmtime/classic/-c-" + count, count + " connections", extent, 90, classic(V4, count, ""));
        }
        for (Family family : List.of(V6, LL)) {
            rows.add("cmtime/classic/" + family, "10 connections", classic(family, 10, ""));
        }
        rows.add("cmtime/classic/-p", "10 connections", classic(V4, 10, "-p 7999 -r 3 -t 5000"));
        if (NEWER == null) {
            return;
        }
        for (int count : List.of(1, 10, 64)) {
            rows.add("cmtime/mesh/-c-" + count, count + " connections", QUICK, 90, mesh(V4, "server", count));
        }
        rows.add("cmtime/mesh/client-root", "10 connections", QUICK, mesh(V4, "client", 10));
        rows.add("cmtime/mesh/v6", "10 connections", QUICK, mesh(V6, "server", 10));
    }

    static void defineOnHosts(InteropCases cases) {
        Rows near = new Rows(cases, Roles.NEAR, 30);
        for (Family family : List.of(LO4, V4, LO6, V6, LL)) {
            near.add("host/cmtime/classic/" + family, "10 connections", classic(family, 10, ""));
            near.add("host/cmtime/mesh/" + family, "10 connections", mesh(family, "server", 10));
        }
        Rows far = new Rows(cases, Roles.FAR_SERVER, 60);
        far.add("host/cmtime/classic/far-v4", "1000 connections", QUICK, classic(V4, 1000, ""));
        far.add("host/cmtime/mesh/far-v4", "1000 connections", QUICK, mesh(V4, "client", 1000));
        for (Family family : List.of(V6, LL)) {
            far.add("host/cmtime/mesh/far-" + family, "10 connections", FULL, 30, mesh(family, "server", 10));
        }
    }

    /** Returns the command of a side's classic tool. */
    private static String classicTool(InteropStage stage, Side side) {
        return side == Side.EXEC || stage.isC(side) ? "cmtime" : "cmtime --classic";
    }

    /** The client opens and closes connections, and the server runs until SIGINT. */
    static InteropCases.Body classic(Family family, int count, String options) {
        int port = Integer.parseInt(Pair.option(options, "-p", "7471"));
        return stage -> {
            String address = stage.address(stage.server, family);
            String client =
                    "%s -s %s -c %d ".formatted(classicTool(stage, stage.client), stage.serverAddress(family), count);
            Pair pair = Pair.start(
                    stage,
                    classicTool(stage, stage.server) + " -b " + address + " " + options,
                    Pair.at(stage, port, address),
                    client + options);
            requireTable(pair.client(), CLASSIC_LINES);
            InteropStage.interrupt(pair.server());
            InteropStage.requireOut(pair.server(), List.of());
            InteropStage.requireQuiet(pair.server());
            stage.stage.remark(figures(pair.client(), "connect ", List::getLast) + " us per connection");
        };
    }

    /** One of both is the controller, to which the other one connects. */
    private static InteropCases.Body mesh(Family family, String controller, int count) {
        return stage -> {
            boolean isServer = controller.equals("server");
            RunningProcess first = startMesh(stage, isServer, isServer, family, count);
            stage.awaitLine(first, "OOB root");
            RunningProcess second = startMesh(stage, !isServer, isServer, family, count);
            Pair pair = isServer ? new Pair(first, second) : new Pair(second, first);
            requireTable(pair.client(), meshLines(false, !isServer, count));
            requireTable(pair.server(), meshLines(true, isServer, count));
            stage.stage.remark(figures(pair.client(), "full connect ", words -> words.get(2) + " us per connection"));
        };
    }

    private static RunningProcess startMesh(
            InteropStage stage, boolean isServer, boolean controllerIsServer, Family family, int count)
            throws IOException, InterruptedException {
        Side side = isServer ? stage.server : stage.client;
        String command = "%s -b %s -C %s -c %d %s"
                .formatted(
                        stage.isC(side) ? NEWER : "cmtime",
                        stage.address(side, family),
                        stage.address(controllerIsServer ? stage.server : stage.client, V4),
                        count,
                        isServer ? "-L" : "");
        return Pair.start(stage, isServer ? "server" : "client", side, command);
    }

    private static List<String> meshLines(boolean isServer, boolean isController, int count) {
        String verb = isServer ? "Accept" : "Connect";
        List<String> steps = isServer ? ACCEPTING : CONNECTING;
        List<String> lines = new ArrayList<>(isController ? List.of("Running as OOB root") : List.of());
        lines.add((isServer ? "Server" : "Client") + " warmup");
        steps.forEach(step -> lines.add("\t" + step));
        for (boolean hasQueuePairs : List.of(true, false)) {
            lines.add("%s (%d) %s".formatted(verb, count, hasQueuePairs ? "QPs test" : "test - no QPs"));
            steps.stream().filter(step -> !step.startsWith("Alloc")).forEach(step -> lines.add("\t" + step));
            lines.add("%s        %10d".formatted(hasQueuePairs ? "qp_conn" : "cm_conn", count));
            lines.addAll(MESH_TABLE.lines().toList());
        }
        return lines;
    }

    /** Waits for a process to end with 0, and compares its lines without the figures of the table. */
    private static void requireTable(RunningProcess process, List<String> expected)
            throws CaseFailure, InterruptedException {
        process.requireSuccess();
        List<String> lines = process.out()
                .lines()
                .map(line ->
                        line.replaceFirst(":( *[0-9]+\\.[0-9]{2}){4}$", ":").replaceFirst("( +[0-9]+){6}$", " :"))
                .toList();
        Stage.require(lines.equals(expected), process.label() + ".out is not what it must be");
        InteropStage.requireQuiet(process);
    }

    /** Returns figures of the rows of a step: the first one with queue pairs, the second one without them. */
    private static String figures(RunningProcess process, String step, Function<List<String>, String> figure) {
        return process.out()
                .lines()
                .filter(line -> line.startsWith(step))
                .map(line -> figure.apply(List.of(line.strip().split(" +", -1))))
                .collect(Collectors.joining(", without queue pairs "));
    }
}
