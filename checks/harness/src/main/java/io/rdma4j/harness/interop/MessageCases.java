package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.LL;
import static io.rdma4j.harness.interop.Family.LO4;
import static io.rdma4j.harness.interop.Family.LO6;
import static io.rdma4j.harness.interop.Family.TWIN;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.Capture;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** ucmatose and udaddy: server and client with the same options. */
final class MessageCases {
    private static final String UCMATOSE_SERVER = """
            cmatose: starting server
            initiating data transfers
            completing sends
            receiving data transfers
            data transfers complete
            migrating to new event channel
            cmatose: disconnecting
            disconnected
            test complete
            return status 0
            """;

    private static final String UCMATOSE_CLIENT = """
            cmatose: starting client
            cmatose: connecting
            receiving data transfers
            sending replies
            data transfers complete
            migrating to new event channel
            test complete
            return status 0
            """;

    private static final String UDADDY_SERVER = """
            udaddy: starting server
            receiving data transfers
            sending replies
            data transfers complete
            test complete
            return status 0
            """;

    private static final String UDADDY_CLIENT = """
            udaddy: starting client
            udaddy: connecting
            initiating data transfers
            receiving data transfers
            data transfers complete
            test complete
            return status 0
            """;

    /** RC SEND only, and UD SEND with immediate. */
    private static final String DATA = "(infiniband.bth.opcode == 4 || infiniband.bth.opcode == 101)";

    private MessageCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 60);
        for (Family family : List.of(V4, V6, LL)) {
            rows.add("ucmatose/" + family, "10 messages each way", exchange("ucmatose", family, ""));
        }
        for (int count : List.of(2, 8, 64)) {
            String options = "-c " + count;
            rows.add(
                    "ucmatose/-c-" + count,
                    count + " connections",
                    count == 64 ? QUICK : FULL,
                    90,
                    exchange("ucmatose", V4, options));
        }
        rows.add("ucmatose/-C-100", "100 messages", QUICK, exchange("ucmatose", V4, "-C 100"));
        rows.add("ucmatose/-C-0", "no message", exchange("ucmatose", V4, "-C 0"));
        rows.add("ucmatose/-S-1", "messages of 1 byte", exchange("ucmatose", V4, "-S 1"));
        rows.add("ucmatose/-S-100000", "3 x 100000 bytes", exchange("ucmatose", V6, "-S 100000 -C 3"));
        rows.add("ucmatose/-t", "DSCP in every packet", stage -> requireTypeOfService(stage, "ucmatose"));
        rows.add("ucmatose/-a", "10 messages", exchange("ucmatose", V4, "-a 12"));
        rows.add("ucmatose/-m", "4 migrate", exchange("ucmatose", V4, "-m -c 4"));
        rows.add("ucmatose/-f-ip", "10 messages", exchange("ucmatose", V6, "-f ipv6"));
        rows.add("ucmatose/-f-name", "10 messages", exchange("ucmatose", V4, "-f name"));
        rows.add("ucmatose/-P-tcp", "10 messages", exchange("ucmatose", V4, "-P tcp"));
        rows.add("ucmatose/-P-ib", "10 messages", exchange("ucmatose", V4, "-P ib"));
        rows.add("ucmatose/-p", "10 messages", exchange("ucmatose", V4, "-p 7999"));
        for (Family family : List.of(V4, V6)) {
            rows.add("ucmatose/-b-any/" + family, "10 messages", stage -> run(stage, "ucmatose", family, "", "::0"));
        }
        defineDatagrams(rows);
    }

    private static void defineDatagrams(Rows rows) {
        rows.add("udaddy/-p", "10 datagrams each way", exchange("udaddy", V4, "-p 0x111"));
        rows.add("udaddy/-P", "10 datagrams each way", exchange("udaddy", V4, "-P udp"));
        rows.add("udaddy/-f-ipv6", "10 datagrams each way", exchange("udaddy", V6, "-f ipv6"));
        rows.add("udaddy/-f-name", "10 datagrams each way", exchange("udaddy", V4, "-f name"));
        rows.add("udaddy/v4", "10 datagrams each way", QUICK, exchange("udaddy", V4, ""));
        rows.add("udaddy/v6", "10 datagrams each way", exchange("udaddy", V6, ""));
        rows.add("udaddy/-c-8", "8 services", exchange("udaddy", V4, "-c 8"));
        rows.add("udaddy/-C-50", "50 datagrams", exchange("udaddy", V4, "-C 50"));
        rows.add("udaddy/-S-1", "1 byte each", exchange("udaddy", V4, "-S 1"));
        rows.add("udaddy/-S-1024", "1024 bytes, the MTU", exchange("udaddy", V6, "-S 1024"));
        rows.add("udaddy/-t", "DSCP in every packet", stage -> requireTypeOfService(stage, "udaddy"));
    }

    /** Between processes of one host, and between two hosts that both run Java. */
    static void defineOnHosts(InteropCases cases) {
        Rows near = new Rows(cases, Roles.NEAR, 30);
        for (Family family : List.of(LO4, V4, LO6, V6, LL, TWIN)) {
            var extent = family == V4 ? QUICK : FULL;
            near.add("host/ucmatose/" + family, "10 messages each way", extent, exchange("ucmatose", family, ""));
            near.add("host/udaddy/" + family, "10 datagrams each way", extent, exchange("udaddy", family, ""));
            near.add("host/rdma_client/" + family, "1 message each way", extent, EndpointCases.exchange(family, 7471));
        }
        EndpointCases.defineOnHosts(cases);
        Rows far = new Rows(cases, Roles.FAR_SERVER, 30);
        for (Family family : List.of(V4, V6, LL)) {
            var extent = family == V4 ? QUICK : FULL;
            String name = "/far-" + family;
            far.add("host/ucmatose" + name, "8 connections", extent, exchange("ucmatose", family, "-c 8 -S 5000"));
            far.add("host/udaddy" + name, "8 services", extent, exchange("udaddy", family, "-c 8"));
        }
        far.add("host/ucmatose/-c-1000", "1000 connections", QUICK, 60, exchange("ucmatose", V4, "-c 1000"));
        MulticastCases.defineOnHosts(cases);
    }

    /** Both sides have to end with 0, and to print exactly the right lines and nothing to standard error. */
    static InteropCases.Body exchange(String tool, Family family, String options) {
        return stage -> run(stage, tool, family, options, stage.address(stage.server, family));
    }

    private static void run(InteropStage stage, String tool, Family family, String options, String bound)
            throws CaseFailure, IOException, InterruptedException {
        boolean isUdaddy = tool.equals("udaddy"); // whose option -p is the port space
        int port = isUdaddy ? 7174 : Integer.parseInt(Pair.option(options, "-p", "7471"));
        Pair pair = Pair.start(
                stage,
                tool + " -b " + bound + " " + options,
                Pair.at(stage, port, bound.equals("::0") ? "" : bound),
                tool + " -s " + stage.serverAddress(family) + " " + options);
        pair.requireLines(
                lines(isUdaddy ? UDADDY_SERVER : UCMATOSE_SERVER, options),
                lines(isUdaddy ? UDADDY_CLIENT : UCMATOSE_CLIENT, options));
    }

    private static List<String> lines(String all, String options) {
        boolean migrates = options.startsWith("-m");
        boolean hasMessages = !options.equals("-C 0");
        return all.lines()
                .filter(line -> migrates || !line.startsWith("migrating"))
                .filter(line -> hasMessages || !line.matches(".*data transfers.*|completing sends|sending replies"))
                .toList();
    }

    /** Every data packet, in both directions, has the type of service that -t sets. */
    private static void requireTypeOfService(InteropStage stage, String tool)
            throws CaseFailure, IOException, InterruptedException {
        exchange(tool, V4, "-t 0x28").run(stage);
        Thread.sleep(Duration.ofMillis(1200)); // tcpdump writes once a second
        int with = packets(stage, DATA + " && ip.dsfield == 0x28");
        int without = packets(stage, DATA + " && ip.dsfield != 0x28");
        Stage.require(
                with >= 20 && without == 0,
                with + " messages have the type of service, " + without + " do not have it");
    }

    private static int packets(InteropStage stage, String filter) throws IOException, InterruptedException {
        return Capture.lines(World.captureOf(stage.stage), filter).size();
    }
}
