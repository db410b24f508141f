package io.rdma4j.fuzz;

import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Feth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * F2: the responder of a reliable connection, driven by a sequence of actions of its peer and its owner.
 *
 * <p>Nothing outside the writable regions changes, the counters add up, and the responses are bounded and can be
 * parsed. At the end, either a correct request is executed, or the queue pair is in the error state and all posted
 * receives were completed once and in order.
 */
public final class ResponderTarget implements FuzzTarget {
    private static final int FIRST_PSN = 0xff_fff0;
    private static final int OPEN = 0;
    private static final int READ_ONLY = 1;
    private static final int LOCAL = 2;
    private static final int FOREIGN = 3;
    private static final int RECEIVES = 4;
    private static final int LAST = 5;

    /**
     * Maximum number of response packets: for the maximum number of remembered READs, each of a whole region, and an
     * acknowledgement.
     */
    private static final int MAX_RESPONSE_PACKETS = 8 * (Peering.REGION_BYTES / Peering.MTU + 1) + 1;

    private static final int REQUESTS_WITH_KEY = 4;

    /** Creates the target. */
    public ResponderTarget() {}

    @Override
    public void run(byte[] input) {
        Script script = new Script(input);
        Peering side = new Peering(FIRST_PSN, 0x100, 4);
        side.register(Peering.ALL_ACCESS, Peering.DOMAIN);
        side.register(AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_READ.bit(), Peering.DOMAIN);
        side.register(AccessFlag.LOCAL_WRITE.bit(), Peering.DOMAIN);
        side.register(Peering.ALL_ACCESS, Peering.DOMAIN + 1);
        side.register(AccessFlag.LOCAL_WRITE.bit(), Peering.DOMAIN);
        side.register(Peering.ALL_ACCESS, Peering.DOMAIN);
        while (!script.isAtEnd()) {
            step(script, side);
        }
        answerAll(side);
        finish(side);
    }

    private static void answerAll(Peering side) {
        for (int i = 1; side.pollHeldBack() != null; i++) {
            Invariant.atMost(i, MAX_RESPONSE_PACKETS, "packets in a row");
        }
    }

    private static void step(Script script, Peering side) {
        switch (script.choice(8)) {
            case 0 -> side.deliver(raw(script, side));
            case 1, 2, 3 -> side.deliver(request(script, side));
            case 4 -> {
                long length = script.u16() % 1025;
                long offset = script.u16() % (Peering.REGION_BYTES - length + 1);
                side.postReceive(script.u8(), side.region(RECEIVES), offset, length);
            }
            case 5 -> side.pollAll(MAX_RESPONSE_PACKETS);
            case 6 -> {
                for (int i = script.u8() % 8; i > 0; i--) {
                    side.poll();
                }
            }
            default -> change(script, side);
        }
    }

    /** Executes an action of the owner. */
    private static void change(Script script, Peering side) {
        switch (script.choice(4)) {
            case 0 -> {
                boolean _ = side.memory.deregister(side.region(OPEN));
            }
            case 1 -> side.queuePair.changeAccess(script.u16() & Peering.ALL_ACCESS | AccessFlag.LOCAL_WRITE.bit());
            case 2 -> side.queuePair.changeMinRnrTimer(script.u8() & 31);
            default -> {
                if (script.u8() == 0xff) {
                    side.queuePair.toError();
                }
            }
        }
    }

    /** Builds a packet of arbitrary bytes, with a PSN near the expected one unless the script specifies another. */
    private static byte[] raw(Script script, Peering side) {
        int distance = script.near();
        byte[] datagram = script.run();
        if (datagram.length >= Bth.LENGTH && distance != Byte.MAX_VALUE) {
            MemorySegment s = MemorySegment.ofArray(datagram);
            Wire.u24(s, 9, Psn.plus(side.queuePair.receivePsn(), distance));
        }
        return datagram;
    }

    /** Builds a request whose fields are correct or nearly correct. */
    private static byte[] request(Script script, Peering side) {
        Opcode opcode = Peering.opcode(script.u8());
        int flags = script.u8();
        int psn = Psn.plus(side.queuePair.receivePsn(), script.near());
        int payload = payload(script);
        int pad = (flags & 1) == 0 ? -payload & 3 : flags >> 1 & 3;
        byte[] datagram = new byte[opcode.headerLength() + payload + pad + Packet.ICRC_LENGTH];
        MemorySegment s = MemorySegment.ofArray(datagram);
        Bth.write(s, 0, opcode.code(), (flags & 8) != 0, pad, 0xffff, Peering.NUMBER, (flags & 16) == 0, psn);
        if (opcode.hasReth() || opcode.hasAtomicEth()) {
            MemoryRegion region = side.region(script.choice(REQUESTS_WITH_KEY));
            long address = region.address() + script.near() * ((flags & 32) == 0 ? 8L : 1L);
            int key = region.key() + ((flags & 64) == 0 ? 0 : script.near());
            if (opcode.hasReth()) {
                boolean isWithoutData = opcode.isRead() || opcode.isFlush();
                int length = (flags & 128) == 0 ? isWithoutData ? script.u16() % 4096 : payload : script.s32();
                Reth.write(s, opcode.rethOffset(), address, key, length);
                if (opcode.isFlush()) {
                    int type = script.u8();
                    Feth.write(
                            s,
                            opcode.extensionOffset(),
                            (type & 0xc0) == 0 ? PlacementType.GLOBAL.bit() : type,
                            type >> 4);
                }
            } else {
                AtomicEth.write(s, opcode.extensionOffset(), address, key, script.u8(), script.u8());
            }
        }
        return datagram;
    }

    private static int payload(Script script) {
        int choice = script.u8();
        return (choice & 1) == 0 ? Peering.MTU : choice >> 1 == 0 ? script.u16() % 600 : choice >> 1;
    }

    private static void finish(Peering side) {
        side.checkCanaries();
        Invariant.holds(
                side.isUntouched(READ_ONLY, 0, Peering.REGION_BYTES), "memory without write access is unchanged");
        Invariant.holds(side.isUntouched(LOCAL, 0, Peering.REGION_BYTES), "memory without remote access is unchanged");
        Invariant.holds(side.isUntouched(FOREIGN, 0, Peering.REGION_BYTES), "memory of another domain is unchanged");
        Invariant.holds(side.isUntouched(LAST, 0, Peering.REGION_BYTES), "memory whose key was not used is unchanged");
        if (side.queuePair.state() != QueuePairState.ERROR) {
            sendCorrectWrite(side);
        }
        if (side.queuePair.state() == QueuePairState.ERROR) {
            side.pollAll(1); // a pending response
            side.checkFlushed();
        }
    }

    /** Lets the peer send a correct WRITE, which is an error in the middle of a message. */
    private static void sendCorrectWrite(Peering side) {
        MemoryRegion region = side.region(LAST);
        int psn = side.queuePair.receivePsn();
        side.queuePair.changeAccess(Peering.ALL_ACCESS);
        byte[] datagram = new byte[Opcode.RC_WRITE_ONLY.headerLength() + 4 + Packet.ICRC_LENGTH];
        MemorySegment s = MemorySegment.ofArray(datagram);
        Bth.write(s, 0, Opcode.RC_WRITE_ONLY.code(), false, 0, 0xffff, Peering.NUMBER, true, psn);
        Reth.write(s, Bth.LENGTH, region.address(), region.key(), 4);
        side.deliver(datagram);
        Packet response = side.pollHeldBack();
        Invariant.holds(response != null, "a correct request is responded to");
        if (response != null) {
            Invariant.equal(response.psn(), psn, "the response has the PSN of the request");
            boolean isAcknowledged = Aeth.isAck(response.syndrome());
            Invariant.holds(
                    isAcknowledged == (side.queuePair.state() != QueuePairState.ERROR),
                    "a queue pair that refuses a request is in the error state");
            Invariant.holds(
                    isAcknowledged != side.isUntouched(LAST, 0, 4),
                    "a WRITE is acknowledged if and only if it was executed");
            Invariant.holds(side.isUntouched(LAST, 4, Peering.REGION_BYTES), "nothing else was written");
        }
        Invariant.holds(side.pollHeldBack() == null, "there is one response");
    }

    @Override
    public Stream<byte[]> seeds() {
        Stream<byte[]> captured = Stream.of("all", "badlen", "inject", "rnr").map(name -> {
            ScriptWriter seed = new ScriptWriter()
                    .u8(4)
                    .u16(512)
                    .u16(0)
                    .u8(1)
                    .u8(4)
                    .u16(512)
                    .u16(512)
                    .u8(2);
            for (Frame frame : Captures.frames(name)) {
                byte[] bytes = Captures.payload(frame);
                Opcode opcode = Opcode.of(bytes[0] & 0xff);
                if (opcode != null && opcode.isRequest() && opcode.code() < 0x20) {
                    seed.u8(0).u8(0).run(bytes).u8(5);
                }
            }
            return seed.bytes();
        });
        Stream<byte[]> generated = Stream.of(Opcode.values())
                .filter(opcode -> opcode.isRequest() && opcode.transport() == Opcode.Transport.RC)
                .map(opcode -> new ScriptWriter()
                        .u8(4)
                        .u16(1024)
                        .u16(0)
                        .u8(1)
                        .u8(1, opcode.code(), 0, 0, 0)
                        .u8(0, 0)
                        .u16(1000)
                        .u8(5)
                        .u8(1, opcode.code(), 0, 0, 0x11)
                        .u8(0, 1)
                        .u16(8)
                        .u8(1, opcode.code(), 0, 0xff, 0x11)
                        .u8(0, 1)
                        .u16(8)
                        .u8(5)
                        .bytes());
        return Stream.concat(Stream.concat(captured, generated), Stream.of(congestedRead()));
    }

    /** Returns a script whose last READ is held back: the peer has reported congestion. */
    private static byte[] congestedRead() {
        ScriptWriter script = new ScriptWriter();
        for (int i = 0; i < 2; i++) {
            script.u8(1, Opcode.CONGESTION_NOTIFICATION.code(), 0, 0, 0)
                    .u8(1, Opcode.RC_READ_REQUEST.code(), 0, 0, 0)
                    .u8(0, 0)
                    .u16(1000)
                    .u8(5);
        }
        return script.bytes();
    }
}
