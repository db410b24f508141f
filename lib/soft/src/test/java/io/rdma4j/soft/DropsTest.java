package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.engine.EngineCounters;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Invalid input is counted by its reason and dropped, without other effects. */
@Timeout(30)
class DropsTest {
    private static final int SEND_BYTES = Bth.LENGTH + 8 + Icrc.LENGTH;

    private final InetAddress address = TestAddresses.loopback();
    private TestEndpoint a;
    private TestEndpoint b;
    private DatagramSocket attacker;

    @BeforeEach
    void open() throws IOException {
        a = new TestEndpoint(address);
        b = new TestEndpoint(address);
        TestEndpoint.connect(a, b);
        attacker = new DatagramSocket(new InetSocketAddress(TestAddresses.loopback(), 0));
    }

    @AfterEach
    void close() {
        attacker.close();
        a.close();
        b.close();
    }

    /** Creates a SEND of eight bytes to a queue pair, with the ICRC that the receiver expects. */
    private byte[] send(Opcode opcode, int queuePair, int partitionKey) {
        byte[] bytes = new byte[SEND_BYTES];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        Bth.write(memory, 0, opcode.code(), false, 0, partitionKey, queuePair, true, 1);
        Frame frame = new Frame();
        frame.segment = memory;
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.length = bytes.length;
        frame.sourceLow = Gid.of(attacker.getLocalAddress()).low();
        frame.destinationLow = Gid.of(address).low();
        frame.sourcePort = attacker.getLocalPort();
        new Icrc().seal(frame);
        return bytes;
    }

    private void assertCounts(ToLongFunction<EngineCounters> counter, byte[] datagram) throws IOException {
        EngineCounters counters =
                StackAccess.devices(ProcessStack.stack()).engine().counters();
        assertIncrements(() -> counter.applyAsLong(counters), datagram);
    }

    private void assertQueuePairCounts(String counter, byte[] datagram) throws IOException {
        assertIncrements(() -> b.queuePair.counters().getOrDefault(counter, -1L), datagram);
    }

    private void assertIncrements(LongSupplier counter, byte[] datagram) throws IOException {
        long before = counter.getAsLong();
        attacker.send(new DatagramPacket(datagram, datagram.length, address, Frame.UDP_PORT));
        long giveUp = System.nanoTime() + 10_000_000_000L;
        while (counter.getAsLong() == before && System.nanoTime() - giveUp < 0) {
            assertThat(b.completions.poll(WorkCompletion.array(1))).isZero();
        }
        assertThat(counter.getAsLong()).isEqualTo(before + 1);
    }

    @Test
    void eachReasonHasItsCounter() throws IOException {
        int number = b.queuePair.number();
        assertCounts(c -> c.tooShort, new byte[15]);
        byte[] reserved = send(Opcode.RC_SEND_ONLY, number, 0xffff);
        reserved[0] = 0x15;
        assertCounts(c -> c.badOpcode, reserved);
        byte[] versioned = send(Opcode.RC_SEND_ONLY, number, 0xffff);
        versioned[1] |= 1;
        assertCounts(c -> c.badVersion, versioned);
        byte[] cut = new byte[16];
        cut[0] = (byte) Opcode.RC_WRITE_ONLY.code();
        assertCounts(c -> c.truncated, cut);
        assertCounts(c -> c.badQueuePairNumber, send(Opcode.RC_SEND_ONLY, number ^ 1, 0xffff));
        assertCounts(c -> c.badQueuePairNumber, send(Opcode.RC_SEND_ONLY, 0, 0xffff));
        assertCounts(c -> c.badQueuePairNumber, send(Opcode.RC_SEND_ONLY, 0xff_ffff, 0xffff));
        assertQueuePairCounts("bad_opcode", send(Opcode.UC_SEND_ONLY, number, 0xffff));
        assertCounts(c -> c.badTransport, send(Opcode.RC_SEND_ONLY, 1, 0xffff));
        assertQueuePairCounts("bad_pkey", send(Opcode.RC_SEND_ONLY, number, 0x8001));
        assertIncrements(() -> b.context.port(1).partitionKeyViolations(), send(Opcode.RC_SEND_ONLY, number, 0x8001));
        assertCounts(c -> c.badPartitionKey, send(Opcode.UD_SEND_ONLY, 1, 0x8001));
        byte[] damaged = send(Opcode.RC_SEND_ONLY, number, 0xffff);
        damaged[Bth.LENGTH + 1] ^= 4;
        assertCounts(c -> c.icrcErrors, damaged);
        // Valid except for its source, which only the queue pair knows.
        assertCounts(c -> c.deliveredPackets, send(Opcode.RC_SEND_ONLY, number, 0xffff));
        a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
        assertThat(a.completion().isSuccess()).isTrue();
    }
}
