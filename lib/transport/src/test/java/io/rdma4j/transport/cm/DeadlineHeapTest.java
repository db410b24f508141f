package io.rdma4j.transport.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.Req;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeadlineHeapTest {
    private static List<CmConnection> connections(int count) {
        CmFabric fabric = new CmFabric();
        CmHost host = new CmHost(fabric, 1);
        Gid peer = Gid.ofIpv4(0x0a58_0002);
        Req request = Req.builder()
                .primaryPath(CmPath.roce(host.address, peer, 0, 0, 64, 19))
                .build();
        List<CmConnection> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(CmConnection.active(host.agent, new CmRoute(host.address, peer, 0), request, host));
        }
        return all;
    }

    @Test
    void firstEntryHasTheEarliestDeadline() {
        Random random = new Random(3);
        List<CmConnection> all = connections(300);
        DeadlineHeap heap = new DeadlineHeap();
        for (int step = 0; step < 30_000; step++) {
            CmConnection connection = all.get(random.nextInt(all.size()));
            heap.schedule(connection, random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextLong(-1_000, 1_000));
            long earliest = all.stream().mapToLong(c -> c.deadlineNanos).min().orElseThrow();
            assertThat(heap.firstDeadlineNanos()).isEqualTo(earliest);
            if (earliest != Long.MAX_VALUE) {
                assertThat(heap.first().deadlineNanos).isEqualTo(earliest);
            }
            assertThat(heap.size()).isEqualTo((int)
                    all.stream().filter(c -> c.deadlineNanos != Long.MAX_VALUE).count());
        }
    }

    @Test
    void deadlinesStayInOrderAfterRemovals() {
        Random random = new Random(4);
        List<CmConnection> all = connections(40);
        for (int round = 0; round < 3_000; round++) {
            DeadlineHeap heap = new DeadlineHeap();
            all.forEach(connection -> heap.schedule(connection, random.nextLong(1_000)));
            for (int i = 0; i < 15; i++) {
                heap.schedule(all.get(random.nextInt(all.size())), Long.MAX_VALUE);
            }
            long last = Long.MIN_VALUE;
            while (heap.size() > 0) {
                assertThat(heap.firstDeadlineNanos()).isGreaterThanOrEqualTo(last);
                last = heap.firstDeadlineNanos();
                heap.schedule(heap.first(), Long.MAX_VALUE);
            }
            assertThat(all).allMatch(connection -> connection.heapIndex < 0);
        }
    }

    @Test
    void emptyHeapHasNoDeadline() {
        DeadlineHeap heap = new DeadlineHeap();
        assertThat(heap.firstDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        CmConnection connection = connections(1).getFirst();
        heap.schedule(connection, Long.MAX_VALUE);
        assertThat(heap.size()).isZero();
        heap.schedule(connection, 5);
        heap.schedule(connection, 9);
        assertThat(heap.size()).isEqualTo(1);
        assertThat(heap.firstDeadlineNanos()).isEqualTo(9);
        heap.schedule(connection, Long.MAX_VALUE);
        assertThat(heap.firstDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void establishedConnectionsHaveNoDeadline() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        for (int i = 0; i < 10_000; i++) {
            client.connect(server);
            fabric.run(3 * CmFabric.MILLISECOND);
        }
        assertThat(client.agent.connectionCount()).isEqualTo(10_000);
        assertThat(client.agent.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(server.agent.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(server.agent.deadlines.size()).isZero();
    }
}
