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
import io.rdma4j.acceptance.traffic.WithdrawnStorm;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Many addresses flood a listener with connection requests that they withdraw immediately. First the listener's program
 * takes no events. Then it takes them, and another client connects during the flood.
 */
public final class WithdrawnRequests implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(100);
    private static final int BACKLOG = 16;
    private static final long MAX_HEAP_BYTES = 16 << 20;
    private static final long MAX_MILLIS = 5000;

    @Override
    public String required(Scale scale) {
        return "during " + seconds(scale) + " s of requests that are withdrawn: at most " + BACKLOG
                + " of them wait, as many as the backlog; heap at most 16 MiB more; a client connects in 5 s";
    }

    private static int seconds(Scale scale) {
        return scale.of(12, 60);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        hosts.left().run("ip", "route", "add", "local", WithdrawnStorm.NETWORK, "dev", "lo");
        hosts.right().run("ip", "route", "add", WithdrawnStorm.NETWORK, "via", TwoHosts.LEFT);
        Child server = Child.builder(stage, "server", Server.class)
                .on(hosts.right())
                .options("-Xmx128m")
                .start();
        int port = server.await("port", STEP).asInt();
        Child client = Child.builder(stage, "client", CmAbuse.Client.class)
                .on(hosts.left())
                .with("port", port)
                .start();
        long millisBefore = client.await("millis", STEP).asLong();
        ResourceUsage before = server.resourceUsage();
        JsonNode _ = server.ask("pause", "paused", STEP);
        int seconds = seconds(stage.scale());
        Child attacker = Child.builder(stage, "attacker", WithdrawnStorm.class)
                .on(hosts.left())
                .with("port", port)
                .with("seconds", seconds)
                .start();
        attacker.await("begun", STEP);
        stage.progress("the program takes no events");
        Thread.sleep(Duration.ofSeconds(seconds / 3));
        int waiting = server.ask("waiting", "waiting", STEP).asInt();
        stage.progress("the program takes events");
        JsonNode _ = server.ask("serve", "serving", STEP);
        long slowest = 0;
        int connects = 0;
        @Nullable JsonNode pairs = null;
        while (pairs == null) {
            client.sendLine("connect");
            slowest = Math.max(slowest, client.await("millis", CONNECT_LIMIT).asLong());
            connects++;
            pairs = attacker.poll("pairs", Duration.ofMillis(100)).orElse(null);
        }
        int taken = server.ask("taken", "taken", STEP).asInt();
        long heap = server.resourceUsage().since(before).heapBytes();
        return Outcome.of(
                waiting == BACKLOG && heap <= MAX_HEAP_BYTES && taken > 0,
                slowest <= MAX_MILLIS,
                "%d withdrawn; %d waited; %d taken; heap %+d KiB; %d connects, at most %d ms (%d before)"
                        .formatted(pairs.asInt(), waiting, taken, heap >> 10, connects, slowest, millisBefore));
    }

    /**
     * Accepts every request, and closes those that were withdrawn. Takes no events from the command {@code pause} to
     * {@code serve}. On {@code waiting} it reports the number of requests that it has not taken, and on {@code taken}
     * the number of withdrawn requests that it has taken.
     */
    public static final class Server implements Role {
        private static final QueuePairCapabilities SIZES = new QueuePairCapabilities(16, 16, 1, 1, 0);
        private static final byte[] PRIVATE_DATA = new byte[20];
        private static final Duration STEP = Duration.ofMillis(100);

        private final SoftStack stack = SoftStack.create();
        private final EventChannel channel = stack.connectionManager().openEventChannel();
        private final AtomicInteger taken = new AtomicInteger();
        private final AtomicInteger open = new AtomicInteger();
        private volatile boolean isPaused;

        @Override
        public void run(Parent parent) throws IOException, InterruptedException {
            CmId listener = channel.createId(PortSpace.TCP);
            listener.bindAddress(new InetSocketAddress(TwoHosts.RIGHT, 0));
            listener.listen(BACKLOG);
            parent.report("port", listener.sourcePort());
            Thread serving = Thread.ofPlatform().daemon().start(this::serve);
            while (true) {
                switch (parent.nextCommand()) {
                    case "pause" -> {
                        isPaused = true;
                        serving.join();
                        parent.report("paused", 1);
                    }
                    case "serve" -> {
                        isPaused = false;
                        serving = Thread.ofPlatform().daemon().start(this::serve);
                        parent.report("serving", 1);
                    }
                    case "waiting" ->
                        parent.report("waiting", stack.openObjects().size() - open.get() - 1);
                    default -> parent.report("taken", taken.get());
                }
            }
        }

        private void serve() {
            while (!isPaused) {
                CmEvent event = channel.await(STEP);
                if (event != null) {
                    event.acknowledge();
                    handle(event.type(), event.id());
                }
            }
        }

        private void handle(CmEvent.Type type, CmId id) {
            if (type == CmEvent.Type.CONNECT_REQUEST) {
                open.getAndIncrement();
                accept(id);
            } else if (type != CmEvent.Type.ESTABLISHED && type != CmEvent.Type.TIMEWAIT_EXIT) {
                open.getAndDecrement();
                id.close();
            }
        }

        private void accept(CmId id) {
            try {
                id.createQueuePair(QueuePairInitAttributes.of(SIZES));
                id.accept(ConnectionParameters.defaults().withPrivateData(PRIVATE_DATA));
            } catch (RdmaException withdrawn) {
                taken.getAndIncrement();
                open.getAndDecrement();
                id.close();
            }
        }
    }
}
