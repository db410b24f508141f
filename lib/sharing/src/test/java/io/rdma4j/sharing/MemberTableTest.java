package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rtu;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Packets for unknown processes cost the owner of a port little. */
class MemberTableTest {
    private static final int ABSENT = 254;
    private static final int ICRC_BYTES = 4;

    private final TestEngine engine = new TestEngine(new MemoryNetwork(9000).newLinkSet());
    private final CountingListener listener = new CountingListener();

    @SuppressWarnings("NullAway.Init")
    private MemberTable owner;

    /** A listener to which no process ever connects. A real check for one is a system call. */
    private static final class CountingListener implements LinkSet.LocalListener {
        private int checks;

        @Override
        public @Nullable LocalChannel accept() {
            checks++;
            return null;
        }

        @Override
        public void close() {}
    }

    /** Keeps the engine's time constant during the test. */
    @BeforeEach
    void lock() throws SharingException {
        engine.lock();
        Sharing sharing = new Sharing(RunDirectory.ofVirtualHost("host"), new Random(1));
        HostPort port = new HostPort(engine, sharing, InetAddress.ofLiteral("127.0.0.1"));
        owner = new MemberTable(engine, port, listener, Long.MIN_VALUE);
    }

    @AfterEach
    void unlock() {
        engine.unlock();
    }

    private static Packet packet(CmMessage message) {
        byte[] bytes = new byte[Bth.LENGTH + Deth.LENGTH + CmMad.LENGTH + ICRC_BYTES];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        Bth.write(memory, 0, Opcode.UD_SEND_ONLY.code(), false, 0, 0xffff, GsiPacket.QUEUE_PAIR, false, 0);
        message.emit(memory, Bth.LENGTH + Deth.LENGTH, 1);
        Frame frame = new Frame();
        frame.segment = memory;
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.length = bytes.length;
        Packet packet = new Packet();
        assertThat(packet.parse(frame)).isEqualTo(Packet.Result.OK);
        return packet;
    }

    @Test
    void unknownProcessOfAResponseIsCheckedForOnceInAWhile() {
        Packet response = packet(new Drep(1, ABSENT << 24 | 5, PrivateData.EMPTY));
        for (int i = 0; i < 1_000; i++) {
            assertThat(owner.routeGsi(response)).as("this process rejects it").isTrue();
        }
        assertThat(listener.checks).isEqualTo(1);
    }

    @Test
    void dataAndResponsesForUnknownProcessesShareTheCheck() {
        Packet response = packet(new Rtu(1, ABSENT << 24 | 5, PrivateData.EMPTY));
        for (int i = 0; i < 1_000; i++) {
            assertThat(owner.relay(ABSENT - 1, response.frame())).isFalse();
            assertThat(owner.routeGsi(response)).isTrue();
        }
        assertThat(listener.checks).isEqualTo(1);
    }

    @Test
    void ownerThatHasResignedMayRegisterBeforeItsPeersAreRefused() {
        Packet response = packet(new Rtu(1, ABSENT << 24 | 5, PrivateData.EMPTY));
        assertThat(owner.routeGsi(response)).as("this process rejects it").isTrue();
        owner.beginGrace();
        assertThat(owner.routeGsi(response)).as("the peer repeats it").isFalse();
    }
}
