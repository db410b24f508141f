package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A server has two clients with connections of default parameters. One client uses the other's valid key and address.
 * Each attempt is refused and ends its connection. After five attempts its connection requests are rejected for a
 * minute.
 */
public final class TenantIsolation implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final int VIOLATIONS = 5;
    private static final String REJECTED = "rejected";

    @Override
    public String required(Scale scale) {
        return "5 of 5 uses of another's key and address: REM_ACCESS_ERR, memory unchanged, then requests rejected"
                + (scale == Scale.FULL ? " for 60 s" : "") + "; the other client unaffected";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Child server =
                Child.builder(stage, "server", Server.class).on(hosts.right()).start();
        int port = server.await("port", STEP).asInt();
        Child tenant = Child.builder(stage, "tenant", Tenant.class)
                .on(hosts.right())
                .with("address", TwoHosts.RIGHT)
                .with("port", port)
                .start();
        JsonNode granted = tenant.await("granted", STEP);
        Child thief = Child.builder(stage, "thief", Thief.class)
                .on(hosts.left())
                .with("port", port)
                .with("remoteAddress", granted.get("address").asLong())
                .with("key", granted.get("key").asInt())
                .start();
        List<String> statuses = new ArrayList<>();
        for (int i = 0; i < VIOLATIONS; i++) {
            statuses.add(thief.await("tried", STEP).asText());
            thief.sendLine("go on");
        }
        String nextStatus = thief.await("tried", STEP).asText();
        String laterStatus = "";
        if (stage.scale() == Scale.FULL) {
            stage.progress("waiting for the minute to end");
            Thread.sleep(61_000);
            thief.sendLine("go on");
            laterStatus = thief.await("tried", STEP).asText();
        }
        tenant.sendLine("check");
        String tenantStatus = tenant.await("checked", STEP).asText();
        server.sendLine("check");
        String touched = server.await("touched", STEP).asText();
        boolean allDenied = statuses.stream().allMatch(CompletionStatus.REMOTE_ACCESS_ERROR.name()::equals);
        boolean refused = nextStatus.equals(REJECTED);
        boolean admittedAgain =
                stage.scale() == Scale.QUICK || laterStatus.equals(CompletionStatus.REMOTE_ACCESS_ERROR.name());
        return Outcome.of(
                allDenied && refused && admittedAgain && tenantStatus.isEmpty() && touched.equals("no"),
                "attempts: %s; then: %s%s; memory changed: %s; the other client: %s"
                        .formatted(
                                statuses,
                                nextStatus,
                                laterStatus.isEmpty() ? "" : ", after a minute: " + laterStatus,
                                touched,
                                tenantStatus.isEmpty() ? "unaffected" : tenantStatus));
    }

    /** Accepts all requests, with a protection domain and memory for each, as {@link TrafficSide} does. */
    public static final class Server implements Role {
        private final List<TrafficSide> sides = new ArrayList<>();

        @Override
        public void run(Parent parent) throws IOException {
            TrafficSide.Listener listener = new TrafficSide.Listener(new InetSocketAddress(TwoHosts.RIGHT, 0), 16);
            Thread.ofPlatform().daemon().start(() -> {
                while (true) {
                    TrafficSide side = listener.accept(TrafficSide.Shape.of(16, 16, 4096));
                    synchronized (sides) {
                        sides.add(side);
                    }
                }
            });
            parent.report("port", listener.port());
            while (parent.nextCommand().equals("check")) {
                synchronized (sides) {
                    parent.report("touched", sides.stream().anyMatch(Server::isTouched) ? "yes" : "no");
                }
            }
        }

        /** Checks the second half of the memory, as the tenant writes only the first. */
        private static boolean isTouched(TrafficSide side) {
            MemorySegment half = side.region().memory().asSlice(2048);
            return half.mismatch(MemorySegment.ofArray(new byte[2048])) >= 0;
        }
    }

    /** Uses its own memory at the server. */
    public static final class Tenant implements Role {
        private final WorkCompletion[] batch = WorkCompletion.array(4);

        @Override
        public void run(Parent parent) throws IOException {
            TrafficSide side = TrafficSide.connect(
                    new InetSocketAddress(parent.text("address", ""), 0),
                    new InetSocketAddress(TwoHosts.RIGHT, (int) parent.number("port", 0)),
                    TrafficSide.Shape.of(16, 16, 4096));
            Map<String, Object> granted = new LinkedHashMap<>();
            granted.put("address", side.remoteAddress());
            granted.put("key", side.remoteKey());
            parent.report("granted", granted);
            while (parent.nextCommand().equals("check")) {
                side.queuePair().postWrite(0, side.region(), 0, 64, side.remote());
                int count = side.await(batch, Duration.ofSeconds(5));
                parent.report(
                        "checked", count == 0 ? "no completion" : batch[0].isSuccess() ? "" : batch[0].toString());
            }
        }
    }

    /** Uses the tenant's memory, with a new connection for each attempt. */
    public static final class Thief implements Role {
        private final WorkCompletion[] batch = WorkCompletion.array(4);

        @Override
        public void run(Parent parent) throws IOException {
            do {
                parent.report("tried", attempt(parent));
            } while (parent.nextCommand().equals("go on"));
        }

        private String attempt(Parent parent) {
            try (TrafficSide side = TrafficSide.connect(
                    new InetSocketAddress(TwoHosts.LEFT, 0),
                    new InetSocketAddress(TwoHosts.RIGHT, (int) parent.number("port", 0)),
                    TrafficSide.Shape.of(16, 16, 4096))) {
                side.region().memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
                side.queuePair()
                        .postSend(new SendWorkRequest()
                                .from(side.region(), 0, 64)
                                .write(parent.number("remoteAddress", 0) + 2048, (int) parent.number("key", 0))
                                .signaled());
                int count = side.await(batch, Duration.ofSeconds(5));
                return count == 0 ? "nothing" : batch[0].status().name();
            } catch (RdmaException e) {
                return e.errno() == Errno.ECONNREFUSED ? REJECTED : e.toString();
            }
        }
    }
}
