package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.ResourceUsage;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.RequestStorm;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Several addresses flood a listener with connection requests while a client connects. Some are valid and are rejected
 * by the listener; others are repeated, request unknown services, contain random data, or name another host as their
 * sender.
 */
public final class CmAbuse implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final int BACKLOG = 128;
    private static final long MAX_HEAP_BYTES = 16 << 20;
    private static final long MAX_MILLIS = 1000;

    @Override
    public String required(Scale scale) {
        return "during " + messages(scale) + " hostile messages a client connects in 1 s; no more bytes out than in;"
                + " none to a third party; heap at most 16 MiB more";
    }

    private static int messages(Scale scale) {
        return scale.of(20_000, 100_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        for (String address : RequestStorm.addresses()) {
            hosts.left().run("ip", "addr", "add", address + "/24", "dev", TwoHosts.CABLE);
        }
        Child server =
                Child.builder(stage, "server", Server.class).on(hosts.right()).start();
        int port = server.await("port", STEP).asInt();
        ResourceUsage before = server.resourceUsage();
        Child client = Child.builder(stage, "client", Client.class)
                .on(hosts.left())
                .with("port", port)
                .start();
        long millisBefore = client.await("millis", STEP).asLong();
        Child attacker = Child.builder(stage, "attacker", RequestStorm.class)
                .on(hosts.left())
                .with("port", port)
                .with("messages", messages(stage.scale()))
                .start();
        attacker.await("begun", STEP);
        long max = 0;
        int connects = 0;
        @Nullable JsonNode result = null;
        while (result == null) {
            client.sendLine("connect");
            long took = client.await("millis", Duration.ofSeconds(100)).asLong();
            max = Math.max(max, took);
            connects++;
            result = attacker.poll("result", Duration.ofMillis(100)).orElse(null);
        }
        long heap = server.resourceUsage().since(before).heapBytes();
        boolean isBalanced =
                result.get("receivedBytes").asLong() <= result.get("sentBytes").asLong();
        return Outcome.of(
                isBalanced
                        && result.get("toThirdParty").asLong() == 0
                        && result.get("answers").asLong() > 0
                        && heap <= MAX_HEAP_BYTES,
                max <= MAX_MILLIS,
                "%d connects, at most %d ms (%d before); %d KiB in, %d out; %d to a third party; heap %+d KiB"
                        .formatted(
                                connects,
                                max,
                                millisBefore,
                                result.get("sentBytes").asLong() >> 10,
                                result.get("receivedBytes").asLong() >> 10,
                                result.get("toThirdParty").asLong(),
                                heap >> 10));
    }

    /** Accepts the client and rejects all other requests. */
    public static final class Server implements Role {
        private static final QueuePairCapabilities SIZES = new QueuePairCapabilities(16, 16, 1, 1, 0);
        private static final byte[] PRIVATE_DATA = new byte[20];

        @Override
        public void run(Parent parent) throws IOException {
            EventChannel channel = EventChannel.open();
            CmId listener = channel.createId(PortSpace.TCP);
            listener.bindAddress(new InetSocketAddress(TwoHosts.RIGHT, 0));
            listener.listen(BACKLOG);
            Thread.ofPlatform().daemon().start(() -> serve(channel));
            parent.report("port", listener.sourcePort());
            parent.nextCommand();
        }

        private static void serve(EventChannel channel) {
            InetAddress client = InetAddress.ofLiteral(TwoHosts.LEFT);
            while (true) {
                CmEvent event = channel.await();
                CmId id = event.id();
                CmEvent.Type type = event.type();
                event.acknowledge();
                if (type == CmEvent.Type.CONNECT_REQUEST) {
                    InetSocketAddress peer = id.peerAddress();
                    if (peer != null && client.equals(peer.getAddress())) {
                        id.createQueuePair(QueuePairInitAttributes.of(SIZES));
                        id.accept(ConnectionParameters.defaults().withPrivateData(PRIVATE_DATA));
                    } else {
                        id.reject(new byte[0]);
                        id.close();
                    }
                } else if (type != CmEvent.Type.ESTABLISHED) {
                    id.close();
                }
            }
        }
    }

    /** Connects on command and reports how long that took. */
    public static final class Client implements Role {
        /** Connections that load and compile the code for connecting. */
        private static final int WARM_UP = 20;

        @Override
        public void run(Parent parent) throws IOException {
            for (int i = 0; i < WARM_UP; i++) {
                long _ = connect(parent);
            }
            do {
                parent.report("millis", connect(parent));
            } while (parent.nextCommand().equals("connect"));
        }

        private static long connect(Parent parent) {
            long begin = System.nanoTime();
            try (TrafficSide _ = TrafficSide.connect(
                    new InetSocketAddress(TwoHosts.LEFT, 0),
                    new InetSocketAddress(TwoHosts.RIGHT, (int) parent.number("port", 0)),
                    TrafficSide.Shape.of(16, 16, 4096))) {
                return (System.nanoTime() - begin) / 1_000_000;
            }
        }
    }
}
