package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The kinds of packets that other software devices (rdma_rxe, siw) mishandled in 2025 and 2026, against this responder. Each is
 * refused before any memory is touched.
 */
class KnownAttacksTest extends ResponderFixture {
    private static final int BYTES = 8192;

    private void assertUntouched() {
        for (int i = 0; i < BYTES; i++) {
            assertThat(remote.memory().get(ValueLayout.JAVA_BYTE, i)).isZero();
        }
    }

    private void assertRefused(Pair.WirePacket w, int syndrome) {
        assertThat(responsesTo(w)).isEqualTo(nak(syndrome, PSN));
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertUntouched();
    }

    // ---- ATOMIC WRITE: its payload is eight bytes, regardless of the lengths in the packet ----

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 12, 16, 1024})
    void atomicWriteWithoutItsEightBytesIsRefused(int payload) {
        assertRefused(packet(Opcode.RC_ATOMIC_WRITE, PSN, payload, 8), Aeth.NAK_INVALID_REQUEST);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 9, 16, -8, Integer.MIN_VALUE})
    void atomicWriteOfAnotherLengthIsRefused(int length) {
        assertRefused(packet(Opcode.RC_ATOMIC_WRITE, PSN, 8, length), Aeth.NAK_INVALID_REQUEST);
    }

    // ---- ranges: the sum of address and length wraps around ----

    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {"RC_WRITE_ONLY", "RC_READ_REQUEST", "RC_ATOMIC_WRITE", "RC_FLUSH"})
    void rangeThatWrapsAroundIsRefused(Opcode opcode) {
        int payload = opcode.isWrite() || opcode.isAtomicWrite() ? 8 : 0;
        for (long address : new long[] {-8, -1 & ~7, Long.MAX_VALUE & ~7, Long.MIN_VALUE, remote.address() - 8, 0}) {
            KnownAttacksTest fresh = new KnownAttacksTest();
            Pair.WirePacket w = fresh.packet(opcode, PSN, payload, 8);
            Reth.write(w.segment(), opcode.rethOffset(), address, fresh.remote.key(), 8);
            fresh.assertRefused(w, Aeth.NAK_REMOTE_ACCESS_ERROR);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 0x7fff_ffff, 8193})
    void readOfMoreThanTheRegionIsRefused(int length) {
        Pair.WirePacket w = packet(Opcode.RC_READ_REQUEST, PSN, 0, length);
        assertRefused(w, Aeth.NAK_REMOTE_ACCESS_ERROR);
    }

    @Test
    void readOfMoreThanAMessageIsRefused() {
        assertRefused(packet(Opcode.RC_READ_REQUEST, PSN, 0, -1), Aeth.NAK_INVALID_REQUEST);
    }

    @Test
    void writeThatStartsInsideAndEndsOutsideIsRefused() {
        Pair.WirePacket w = packet(Opcode.RC_WRITE_ONLY, PSN, 16, 16);
        Reth.write(w.segment(), Opcode.RC_WRITE_ONLY.rethOffset(), remote.address() + BYTES - 8, remote.key(), 16);
        assertRefused(w, Aeth.NAK_REMOTE_ACCESS_ERROR);
    }

    @Test
    void atomicAtTheEndOfTheAddressesIsRefused() {
        Pair.WirePacket w = packet(Opcode.RC_FETCH_ADD, PSN, 0, 0);
        AtomicEth.write(w.segment(), Opcode.RC_FETCH_ADD.extensionOffset(), -8, remote.key(), 1, 0);
        assertRefused(w, Aeth.NAK_REMOTE_ACCESS_ERROR);
    }

    // ---- keys: a window of another protection domain, or a key whose lower byte is stale ----

    @Test
    void windowOfAnotherProtectionDomainIsRefused() {
        MemoryRegion foreign = pair.b.memory.register(
                MemorySegment.ofArray(new byte[BYTES]), remote.address(), Pair.ALL_ACCESS, Pair.PD + 1);
        Pair.WirePacket w = packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8);
        Reth.write(w.segment(), Opcode.RC_WRITE_ONLY.rethOffset(), remote.address(), foreign.key(), 8);
        assertRefused(w, Aeth.NAK_REMOTE_ACCESS_ERROR);
    }

    /** A window can only be bound to a region of its own protection domain, by a queue pair of the same one. */
    @Test
    void windowIsNotBoundAcrossProtectionDomains() {
        MemoryRegion foreign = pair.b.memory.register(
                MemorySegment.ofArray(new byte[BYTES]),
                remote.address(),
                Pair.ALL_ACCESS | AccessFlag.MEMORY_WINDOW_BIND.bit(),
                8);
        MemoryWindow window = pair.b.memory.allocateWindow(true, Pair.PD);
        SendRequest r = pair.b.claim(1, SendOpcode.BIND_MEMORY_WINDOW);
        r.window = window;
        r.bindRegion = foreign;
        r.bindLength = 64;
        r.bindAccess = AccessFlag.REMOTE_WRITE.bit();
        r.remoteKey = window.key() + 1;
        pair.b.queuePair.sendQueue().publish();
        pair.run();
        assertThat(pair.b.statuses(false)).doesNotContain(CompletionStatus.SUCCESS);
        assertThat(window.isBound()).isFalse();
    }

    // ---- frames: lengths and opcodes are checked before anything is computed from them ----

    private static Packet.Result parse(byte[] bytes) {
        Frame f = new Frame();
        f.segment = MemorySegment.ofArray(bytes);
        f.buffer = ByteBuffer.wrap(bytes);
        f.length = bytes.length;
        return new Packet().parse(f);
    }

    @Test
    void frameOfEveryOpcodeAndShortLengthIsParsedOrRefused() {
        for (int opcode = 0; opcode < 256; opcode++) {
            for (int length = 0; length <= 80; length++) {
                byte[] bytes = new byte[length];
                if (length > 1) {
                    bytes[0] = (byte) opcode;
                    bytes[1] = 0x30; // a pad of three bytes, which a short frame does not have
                }
                Packet.Result result = parse(bytes);
                if (Opcode.of(opcode) == null) {
                    assertThat(result).as("opcode %d, %d bytes", opcode, length).isNotEqualTo(Packet.Result.OK);
                }
                if (length < 16) {
                    assertThat(result).as("opcode %d, %d bytes", opcode, length).isEqualTo(Packet.Result.TOO_SHORT);
                }
            }
        }
    }

    // ---- responses: a READ response that is longer than what was requested ----

    @Test
    void responseLongerThanTheReadIsNotPlaced() {
        MemoryRegion local = pair.a.register(64);
        SendRequest r = pair.a.claim(1, SendOpcode.RDMA_READ);
        r.list.add(local, 0, 8);
        r.remoteKey = remote.key();
        r.remoteAddress = remote.address();
        pair.a.publish(r);
        pair.wire = w -> List.of(); // the genuine request is lost
        pair.pump(pair.a);
        Pair.WirePacket w = Pair.forge(false, Opcode.RC_READ_RESPONSE_ONLY, pair.options.psnA, false, 64);
        w.segment().set(ValueLayout.JAVA_BYTE, Opcode.RC_READ_RESPONSE_ONLY.headerLength() + 40, (byte) 1);
        pair.deliver(w);
        assertThat(local.memory().get(ValueLayout.JAVA_BYTE, 40)).isZero();
        assertThat(pair.a.statuses(false)).doesNotContain(CompletionStatus.SUCCESS);
    }
}
