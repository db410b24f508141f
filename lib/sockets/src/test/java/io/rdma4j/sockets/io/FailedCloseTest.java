package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** If closing one object fails, the objects after it are still closed. */
@Timeout(60)
class FailedCloseTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(FailingProvider.ADDRESS, 7);
    private static final ConnectData PEER = new ConnectData(
            false, true, 384, 8, new BufferDescriptor(0x1000, 1, 2), new BufferDescriptor(0x2000, 1, 65_536));

    private final ConnectionService service = new ConnectionService(ManagerAccess.managerOf(new FailingProvider()));

    @BeforeEach
    void reset() {
        FailingProvider.OPEN.clear();
        FailingProvider.fail(0, false);
        FailingProvider.onClose(name -> {});
    }

    private static int open(String name) {
        return Collections.frequency(FailingProvider.OPEN, name);
    }

    private DatagramResources datagrams() {
        return DatagramResources.open(service, DatagramAddresses.of(ADDRESS), DatagramSettings.DEFAULT, new Signal());
    }

    @Test
    void pathIsClosedWithoutAnException() {
        DatagramResources end = datagrams();
        FailingProvider.failClose("AddressHandle", 1);
        end.path(new DatagramAddress(0, 0xffff_0a00_0001L, 0, 7), 0).close();
        assertThat(open("AddressHandle")).isOne();
        end.close();
    }

    @Test
    void otherEndsOfADatagramSocketAreClosed() {
        DatagramEnds ends = new DatagramEnds(service, new Signal());
        ends.add(DatagramAddresses.of(ADDRESS), DatagramSettings.DEFAULT);
        ends.add(DatagramAddresses.of(ADDRESS), DatagramSettings.DEFAULT);
        assertThat(open("MemoryRegion")).isEqualTo(4);
        FailingProvider.failClose("MemoryRegion", 1);
        assertThatThrownBy(ends::close).isInstanceOf(RdmaException.class);
        assertThat(open("MemoryRegion")).isOne();
        assertThat(open("QueuePair")).isZero();
    }

    @Test
    void otherMappedMemoryIsDeregistered() {
        CmId id = service.createId(event -> {});
        id.bindAddress(ADDRESS);
        StreamResources resources = new StreamResources(id, StreamSettings.DEFAULT, new Signal());
        int before = open("MemoryRegion");
        resources.map(Arena.global().allocate(8));
        resources.map(Arena.global().allocate(8));
        assertThat(open("MemoryRegion")).isEqualTo(before + 2);
        FailingProvider.failClose("MemoryRegion", before + 1);
        assertThatThrownBy(resources::close).isInstanceOf(RdmaException.class);
        assertThat(open("MemoryRegion")).isOne();
    }

    /** Closing a completion queue waits for the acknowledgement of its events. */
    @Test
    void queuesAreClosedWithoutTheLockOfTheEndpoint() {
        StreamEndpoint endpoint = new StreamEndpoint(service, StreamSettings.DEFAULT);
        CmId id = service.createId(event -> {});
        id.bindAddress(ADDRESS);
        StreamResources resources = new StreamResources(id, StreamSettings.DEFAULT, endpoint.changed);
        List<Boolean> holders = new ArrayList<>();
        FailingProvider.onClose(name -> {
            if (name.equals("CompletionQueue")) {
                holders.add(Thread.holdsLock(endpoint.lock));
            }
        });
        new StreamClosing(endpoint, new ConnectedStream(resources, endpoint.changed), id, () -> {}).release();
        assertThat(holders).containsExactly(false);
        assertThat(FailingProvider.OPEN).containsOnly("DeviceContext");
    }

    @Test
    void otherRequestsAndTheListenerAreClosed() throws IOException {
        StreamEndpoint listener = new StreamEndpoint(service, StreamSettings.DEFAULT);
        listener.bind(ADDRESS);
        AcceptQueue queue = new AcceptQueue(1, new Signal());
        for (int i = 0; i < 2; i++) {
            CmId id = service.createId(event -> {});
            id.bindAddress(ADDRESS);
            assertThat(queue.offer(new AcceptQueue.Request(id, PEER, FailingProvider.ADDRESS)))
                    .isTrue();
        }
        assertThat(open("identifier")).isEqualTo(3);
        FailingProvider.failClose("identifier", 1);
        assertThatThrownBy(queue::close).isInstanceOf(RdmaException.class);
        assertThat(open("identifier")).isEqualTo(2);
        listener.close();
        assertThat(open("identifier")).isOne();
    }
}
