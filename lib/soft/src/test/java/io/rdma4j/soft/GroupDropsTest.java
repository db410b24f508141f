package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.engine.EngineCounters;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Invalid datagrams to a multicast group are counted and dropped. */
@Timeout(30)
class GroupDropsTest {
    private static final int ROUTE_BYTES = 40;

    private final Gid group = Gid.of(TestAddresses.group());

    /** Creates a datagram of four bytes to the group, with the ICRC that a receiver expects. */
    private byte[] sealed(DatagramSocket from, int mark) {
        byte[] bytes = new byte[Bth.LENGTH + Deth.LENGTH + 4 + Icrc.LENGTH];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        Bth.write(memory, 0, Opcode.UD_SEND_ONLY.code(), false, 0, 0xffff, 0xff_ffff, false, 1);
        Deth.write(memory, Bth.LENGTH, DatagramPeer.KEY, 0x123456);
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, Bth.LENGTH + Deth.LENGTH, mark);
        Frame frame = new Frame();
        frame.segment = memory;
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.length = bytes.length;
        frame.sourceLow = Gid.of(from.getLocalAddress()).low();
        frame.destinationLow = group.low();
        frame.sourcePort = from.getLocalPort();
        new Icrc().seal(frame);
        return bytes;
    }

    @Test
    void corruptedDatagramToAGroupIsDropped() throws IOException {
        InetSocketAddress at = new InetSocketAddress(TestAddresses.loopback(), 0);
        try (TestEndpoint receiver = new TestEndpoint(TestAddresses.loopback());
                DatagramSocket sender = new DatagramSocket(at)) {
            QueuePair queuePair = DatagramPeer.ready(receiver, receiver.completions);
            queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(receiver.region, 0, 64));
            queuePair.attachMulticast(group);
            sender.setOption(
                    StandardSocketOptions.IP_MULTICAST_IF,
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()));
            EngineCounters counters =
                    StackAccess.devices(ProcessStack.stack()).engine().counters();
            long before = counters.icrcErrors;
            InetSocketAddress to = new InetSocketAddress(group.toInetAddress(), Frame.UDP_PORT);
            byte[] damaged = sealed(sender, 7);
            damaged[Bth.LENGTH + Deth.LENGTH] ^= 1;
            sender.send(new DatagramPacket(damaged, damaged.length, to));
            byte[] whole = sealed(sender, 8);
            sender.send(new DatagramPacket(whole, whole.length, to)); // arrives after the other
            assertThat(receiver.completion().isSuccess()).isTrue();
            assertThat(receiver.memory.get(ValueLayout.JAVA_INT, ROUTE_BYTES)).isEqualTo(8);
            assertThat(counters.icrcErrors).isEqualTo(before + 1);
        }
    }
}
