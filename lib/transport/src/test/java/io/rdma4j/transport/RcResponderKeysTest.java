package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A responder permits access to memory only with the right key, range and access rights. */
class RcResponderKeysTest extends ResponderFixture {
    /** A case of remote access, and whether a responder allows it. */
    enum Naming {
        VALID(true),
        KEY_PLUS_ONE(false),
        KEY_OF_DEREGISTERED(false),
        OTHER_DOMAIN(false),
        LOCAL_ONLY(false),
        ONLY_THE_OTHER_RIGHT(false),
        BEFORE_THE_START(false),
        ENDS_AT_THE_END(true),
        ENDS_AFTER_THE_END(false),
        AFTER_THE_END(false),
        WRAPS_AROUND(false),
        ZERO_BYTE_REGION(false);

        final boolean isAllowed;

        Naming(boolean isAllowed) {
            this.isAllowed = isAllowed;
        }
    }

    @ParameterizedTest
    @EnumSource(Naming.class)
    void memoryIsAccessedOnlyByItsKeyWithinItsRangeAndRights(Naming naming) {
        for (SendOpcode opcode : List.of(SendOpcode.RDMA_WRITE, SendOpcode.RDMA_READ, SendOpcode.FETCH_AND_ADD)) {
            Pair p = new Pair();
            int right = switch (opcode) {
                case RDMA_WRITE -> AccessFlag.REMOTE_WRITE.bit();
                case RDMA_READ -> AccessFlag.REMOTE_READ.bit();
                default -> AccessFlag.REMOTE_ATOMIC.bit();
            };
            int access = switch (naming) {
                case LOCAL_ONLY -> AccessFlag.LOCAL_WRITE.bit();
                case ONLY_THE_OTHER_RIGHT -> Pair.ALL_ACCESS & ~right;
                default -> AccessFlag.LOCAL_WRITE.bit() | right;
            };
            byte[] memory = new byte[4096];
            Arrays.fill(memory, (byte) 0x5a);
            MemorySegment inside =
                    MemorySegment.ofArray(memory).asSlice(1024, naming == Naming.ZERO_BYTE_REGION ? 0 : 2048);
            long base = naming == Naming.WRAPS_AROUND ? -2048L - 8 : 0x1000;
            int domain = naming == Naming.OTHER_DOMAIN ? Pair.PD + 1 : Pair.PD;
            MemoryRegion region = p.b.memory.register(inside, base, access, domain);
            if (naming == Naming.KEY_OF_DEREGISTERED) {
                p.b.memory.deregister(region);
            }
            SendRequest r = p.a.claim(1, opcode);
            r.list.add(p.a.register(8), 0, 8);
            r.remoteKey = region.key() + (naming == Naming.KEY_PLUS_ONE ? 1 : 0);
            r.remoteAddress = base
                    + switch (naming) {
                        case BEFORE_THE_START -> -8;
                        case ENDS_AT_THE_END -> 2040;
                        case ENDS_AFTER_THE_END -> opcode.isAtomic() ? 2048 : 2041;
                        case AFTER_THE_END -> 4096;
                        case WRAPS_AROUND -> 2048 + 8 - (opcode.isAtomic() ? 8 : 4);
                        default -> 0;
                    };
            p.a.publish(r);
            p.run();
            String name = naming + " " + opcode;
            assertThat(p.a.statuses(false))
                    .as(name)
                    .containsExactly(
                            naming.isAllowed ? CompletionStatus.SUCCESS : CompletionStatus.REMOTE_ACCESS_ERROR);
            for (int i = 0; i < memory.length; i++) {
                boolean mayChange = naming.isAllowed && i >= 1024 && i < 3072;
                assertThat(mayChange || memory[i] == 0x5a)
                        .as("%s byte %s", name, i)
                        .isTrue();
            }
            if (!naming.isAllowed) {
                assertThat(p.b.events).as(name).containsExactly(QueuePairEvent.ACCESS_ERROR);
                assertThat(p.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
            }
        }
    }

    @Test
    void keyOfAnEmptyWriteOrReadIsNotChecked() {
        for (SendOpcode opcode :
                List.of(SendOpcode.RDMA_WRITE, SendOpcode.RDMA_READ, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE)) {
            Pair p = new Pair();
            p.b.postReceive(1, p.b.register(8), 0, 8);
            SendRequest r = p.a.claim(1, opcode);
            r.remoteKey = 0xdead_beef;
            r.remoteAddress = 0x1234;
            p.a.publish(r);
            p.run();
            assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        }
    }

    @Test
    void writeContinuesWhenItsRegionChangesBetweenItsPacketsAndAllowsIt() {
        pair.deliver(packet(Opcode.RC_WRITE_FIRST, PSN, MTU, 2 * MTU));
        int access = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit();
        assertThat(pair.b.memory.change(remote, access, Pair.PD)).isNotNull();
        assertThat(responsesTo(packet(Opcode.RC_WRITE_LAST, PSN + 1, MTU, 0))).isEqualTo(nak(Aeth.ACK, PSN + 1));
        assertThat(pair.b.events).isEmpty();
    }

    @Test
    void writeFailsWhenItsRegionLosesTheRightOrMovesBetweenItsPackets() {
        for (int change = 0; change < 3; change++) {
            ResponderFixture fixture = new ResponderFixture() {};
            MemoryRegion region = fixture.remote;
            MemoryTable table = fixture.pair.b.memory;
            fixture.pair.deliver(fixture.packet(Opcode.RC_WRITE_FIRST, PSN, MTU, 2 * MTU));
            int access = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_READ.bit();
            byte[] other = new byte[8192];
            MemoryRegion changed = switch (change) {
                case 0 -> table.change(region, access, Pair.PD);
                case 1 -> table.change(region, Pair.ALL_ACCESS, Pair.PD + 1);
                default -> table.move(region, MemorySegment.ofArray(other), region.address(), Pair.ALL_ACCESS, Pair.PD);
            };
            assertThat(changed).isNotNull();
            assertThat(fixture.responsesTo(fixture.packet(Opcode.RC_WRITE_LAST, PSN + 1, MTU, 0)))
                    .isEqualTo(nak(Aeth.NAK_REMOTE_ACCESS_ERROR, PSN + 1));
            assertThat(fixture.pair.b.events).containsExactly(QueuePairEvent.ACCESS_ERROR);
            assertThat(other).containsOnly(0);
        }
    }

    @Test
    void readWhoseResponseIsPartlySentFailsWhenItsRegionLosesTheRight() {
        pair.deliver(packet(Opcode.RC_READ_REQUEST, PSN, 0, 4 * MTU));
        assertThat(pair.b.memory.change(remote, AccessFlag.LOCAL_WRITE.bit(), Pair.PD))
                .isNotNull();
        pair.pump(pair.b);
        assertThat(pair.b.events).containsExactly(QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void postedWorkRequestsAreExecutedWithTheCurrentRightsAndDomain() {
        for (int change = 0; change < 4; change++) {
            Pair p = new Pair();
            MemoryRegion receive = p.b.register(64);
            p.b.postReceive(1, receive, 0, 64);
            MemoryRegion changed = switch (change) {
                case 0 -> p.b.memory.change(receive, AccessFlag.LOCAL_WRITE.bit(), Pair.PD);
                case 1 -> p.b.memory.change(receive, AccessFlag.REMOTE_READ.bit(), Pair.PD);
                case 2 -> p.b.memory.change(receive, Pair.ALL_ACCESS, Pair.PD + 1);
                default -> p.b.memory.move(receive, receive.memory(), receive.address(), Pair.ALL_ACCESS, Pair.PD);
            };
            assertThat(changed).isNotNull();
            SendRequest r = p.a.claim(2, SendOpcode.SEND);
            r.list.add(p.a.register(8), 0, 8);
            p.a.publish(r);
            p.run();
            assertThat(p.b.statuses(true))
                    .as("change %s", change)
                    .containsExactly(change == 0 ? CompletionStatus.SUCCESS : CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    @Test
    void writeFailsWhenItsRegionIsDeregisteredBetweenItsPackets() {
        pair.deliver(packet(Opcode.RC_WRITE_FIRST, PSN, MTU, 2 * MTU));
        pair.b.memory.deregister(remote);
        assertThat(responsesTo(packet(Opcode.RC_WRITE_LAST, PSN + 1, MTU, 0)))
                .isEqualTo(nak(Aeth.NAK_REMOTE_ACCESS_ERROR, PSN + 1));
        assertThat(pair.b.events).containsExactly(QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void readFailsAfterTheSentPacketsWhenItsRegionIsDeregistered() {
        pair.deliver(packet(Opcode.RC_READ_REQUEST, PSN, 0, 4096));
        byte[] room = new byte[2048];
        assertThat(pair.b.queuePair.pollTransmit(0, MemorySegment.ofArray(room), 0))
                .isEqualTo(Bth.LENGTH + 4 + MTU);
        pair.b.memory.deregister(remote);
        pair.pump(pair.b);
        assertThat(pair.traceLines()).isEqualTo(nak(Aeth.NAK_REMOTE_ACCESS_ERROR, PSN + 1));
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void duplicateReadOfADeregisteredRegionDoesNotBlockLaterResponses() {
        assertThat(responsesTo(packet(Opcode.RC_READ_REQUEST, PSN, 0, 8))).containsExactly("B READ_RESPONSE_ONLY 4096");
        pair.deliver(packet(Opcode.RC_READ_REQUEST, PSN, 0, 8));
        pair.b.memory.deregister(remote);
        assertThat(responsesTo(packet(Opcode.RC_READ_REQUEST, PSN + 1, 0, 0)))
                .containsExactly("B READ_RESPONSE_ONLY 4097");
    }

    @Test
    void closedArenaFailsTheRequestWithoutAnException() {
        record Case(SendOpcode opcode, CompletionStatus requester) {}
        for (Case c : List.of(
                new Case(SendOpcode.RDMA_WRITE, CompletionStatus.REMOTE_ACCESS_ERROR),
                new Case(SendOpcode.RDMA_READ, CompletionStatus.REMOTE_ACCESS_ERROR),
                new Case(SendOpcode.FETCH_AND_ADD, CompletionStatus.REMOTE_ACCESS_ERROR),
                new Case(SendOpcode.SEND, CompletionStatus.REMOTE_OPERATION_ERROR))) {
            Pair p = new Pair();
            Arena arena = Arena.ofShared();
            MemoryRegion closed = p.b.memory.register(arena.allocate(64, 8), 0x1000, Pair.ALL_ACCESS, Pair.PD);
            p.b.postReceive(1, closed, 0, 64);
            arena.close();
            p.a.post(1, c.opcode(), p.a.register(8), 8, closed, 0);
            p.run();
            assertThat(p.a.statuses(false)).as(c.toString()).containsExactly(c.requester());
        }
        Pair p = new Pair();
        Arena arena = Arena.ofShared();
        MemoryRegion closed = p.a.memory.register(arena.allocate(64, 8), 0x1000, Pair.ALL_ACCESS, Pair.PD);
        arena.close();
        p.a.post(1, SendOpcode.RDMA_WRITE, closed, 8, p.b.register(8), 0);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void receiveIntoDeregisteredMemoryIsAnErrorOfTheResponder() {
        MemoryRegion receive = pair.b.register(100);
        pair.b.postReceive(1, receive, 0, 100);
        pair.b.memory.deregister(receive);
        pair.a.post(1, SendOpcode.SEND, pair.a.register(8), 0, 8);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_OPERATION_ERROR);
        assertThat(pair.b.statuses(true)).containsExactly(CompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void requestWithInvalidLocalMemoryFailsAfterAllEarlierOnes() {
        MemoryRegion good = pair.a.register(100);
        MemoryRegion bad = pair.a.register(100);
        pair.a.post(1, SendOpcode.RDMA_WRITE, good, 100, remote, 0);
        pair.a.post(2, SendOpcode.RDMA_WRITE, bad, 100, remote, 0);
        pair.a.post(3, SendOpcode.RDMA_WRITE, good, 100, remote, 0);
        pair.a.memory.deregister(bad);
        pair.run();
        assertThat(pair.a.ids(false)).containsExactly(1L, 2L, 3L);
        assertThat(pair.a.statuses(false))
                .containsExactly(
                        CompletionStatus.SUCCESS,
                        CompletionStatus.LOCAL_PROTECTION_ERROR,
                        CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
    }

    @Test
    void localMemoryOfAnotherDomainOrWithoutLocalWriteCannotBeUsed() {
        Pair p = new Pair();
        MemoryRegion other = p.a.memory.register(MemorySegment.ofArray(new byte[8]), 0, Pair.ALL_ACCESS, Pair.PD + 1);
        p.a.post(1, SendOpcode.RDMA_WRITE, other, 8, p.b.register(8), 0);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.LOCAL_PROTECTION_ERROR);
        Pair q = new Pair();
        MemoryRegion readOnly = q.a.register(new byte[8], AccessFlag.REMOTE_READ.bit());
        q.a.post(1, SendOpcode.RDMA_READ, readOnly, 8, q.b.register(8), 0);
        q.run();
        assertThat(q.a.statuses(false)).containsExactly(CompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(q.trace).isEmpty();
    }
}
