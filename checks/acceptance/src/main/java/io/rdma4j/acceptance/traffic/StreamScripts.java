package io.rdma4j.acceptance.traffic;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ControlWord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Scripts of hostile peers of an RDMA socket: invalid connection data, and control words and requests that violate the
 * protocol.
 */
public final class StreamScripts {
    private static final int MAX_VALUE = (1 << 29) - 1;
    private static final int RANDOM_DATA = 4;
    private static final int MANY = 500;

    /**
     * Offsets of the table's and the buffer's descriptor in connection data. A descriptor has 8 bytes of address, 4 of
     * key and 4 of length.
     */
    private static final int TABLE = 8;

    private static final int BUFFER = 24;
    private static final int KEY = 8;
    private static final int LENGTH = 12;

    /**
     * A script.
     *
     * @param name description of the script
     * @param change changes the connection data of a correct peer
     * @param actions actions of the peer once accepted
     */
    public record Script(String name, UnaryOperator<byte[]> change, Consumer<HostilePeer> actions) {
        static Script data(String name, UnaryOperator<byte[]> change) {
            return new Script(
                    "connection data with " + name, change, peer -> peer.sendControlWord(ControlWord.DATA, 100));
        }

        static Script actions(String name, Consumer<HostilePeer> actions) {
            return new Script(name, UnaryOperator.identity(), actions);
        }
    }

    private StreamScripts() {}

    /** Returns all scripts in order. */
    public static List<Script> all() {
        List<Script> all = new ArrayList<>(connectionData());
        all.addAll(controlWords());
        all.addAll(offers());
        all.addAll(requests());
        return all;
    }

    private static UnaryOperator<byte[]> setting(int at, int... values) {
        return data -> {
            for (int i = 0; i < values.length; i++) {
                data[at + i] = (byte) values[i];
            }
            return data;
        };
    }

    private static List<Script> connectionData() {
        List<Script> all = new ArrayList<>();
        for (int length : new int[] {0, 1, 2, 4, 8, 16, 24, 39}) {
            all.add(Script.data(length + " bytes", data -> Arrays.copyOf(data, length)));
        }
        for (int version : new int[] {0, 2, 3, 255}) {
            all.add(Script.data("version " + version, setting(0, version)));
        }
        all.add(Script.data("no credit", setting(2, 0, 0)));
        all.add(Script.data("one credit", setting(2, 0, 1)));
        all.add(Script.data("all flags", setting(1, 255)));
        all.add(Script.data("most mapping entries", setting(7, 255)));
        all.add(Script.data("no table", setting(TABLE + LENGTH, 0, 0, 0, 0)));
        all.add(Script.data("a table of -1", setting(TABLE + LENGTH, 255, 255, 255, 255)));
        all.add(Script.data("a table of -2^31", setting(TABLE + LENGTH, 128, 0, 0, 0)));
        all.add(Script.data("another table key", setting(TABLE + KEY, 1, 2, 3, 4)));
        all.add(Script.data("a table at -1", setting(TABLE, 255, 255, 255, 255, 255, 255, 255, 255)));
        all.add(Script.data("no buffer", setting(BUFFER + LENGTH, 0, 0, 0, 0)));
        all.add(Script.data("a buffer of -1", setting(BUFFER + LENGTH, 255, 255, 255, 255)));
        all.add(Script.data("a buffer of 2^31-1", setting(BUFFER + LENGTH, 127, 255, 255, 255)));
        all.add(Script.data("another buffer key", setting(BUFFER + KEY, 1, 2, 3, 4)));
        all.add(Script.data("a buffer at -1", setting(BUFFER, 255, 255, 255, 255, 255, 255, 255, 255)));
        for (int seed = 0; seed < RANDOM_DATA; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            all.add(Script.data("random bytes", data -> {
                random.nextBytes(data);
                data[0] = 1;
                return data;
            }));
        }
        return all;
    }

    private static List<Script> controlWords() {
        List<Script> all = new ArrayList<>();
        for (int value : new int[] {65_537, 131_073, 1 << 28, MAX_VALUE}) {
            all.add(Script.actions(
                    "announces " + value + " bytes", peer -> peer.sendControlWord(ControlWord.DATA, value)));
        }
        all.add(Script.actions("announces 2 GiB in parts", peer -> repeat(peer, 4, ControlWord.DATA, MAX_VALUE)));
        all.add(Script.actions("sends more messages than its credit", peer -> repeat(peer, MANY, ControlWord.DATA, 1)));
        all.add(Script.actions("sends many empty messages", peer -> repeat(peer, MANY, ControlWord.DATA, 0)));
        for (int kind : new int[] {1, 2, 3, 5}) {
            all.add(Script.actions("sends a control word of kind " + kind, peer -> peer.sendControlWord(kind, 17)));
        }
        for (int value : new int[] {1, 3, 1000, MAX_VALUE}) {
            all.add(Script.actions(
                    "sends control value " + value, peer -> peer.sendControlWord(ControlWord.CONTROL, value)));
        }
        for (int end : new int[] {ControlWord.SHUTDOWN, ControlWord.DISCONNECT}) {
            all.add(Script.actions("sends after end " + end, peer -> {
                peer.sendControlWord(ControlWord.CONTROL, end);
                peer.sendControlWord(ControlWord.DATA, 10);
            }));
            all.add(Script.actions("repeats end " + end, peer -> repeat(peer, 20, ControlWord.CONTROL, end)));
        }
        for (int index : new int[] {0, 1, 0xffff, MAX_VALUE}) {
            all.add(Script.actions("maps entry " + index, peer -> peer.sendControlWord(ControlWord.MAPPING, index)));
        }
        return all;
    }

    private static void repeat(HostilePeer peer, int times, int kind, int value) {
        for (int i = 0; i < times; i++) {
            peer.sendControlWord(kind, value);
        }
    }

    private static List<Script> offers() {
        List<Script> all = new ArrayList<>();
        all.add(Script.actions("revokes all credit", peer -> repeat(peer, 3, ControlWord.CREDIT, 0)));
        all.add(Script.actions("grants credit repeatedly", peer -> repeat(peer, 20, ControlWord.CREDIT, MAX_VALUE)));
        for (int length : new int[] {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            all.add(Script.actions("offers a buffer of " + length, peer -> {
                peer.offer(1, new BufferDescriptor(-100, 5, length), CREDITS);
                peer.sendControlWord(ControlWord.DATA, 100); // the server echoes data
            }));
        }
        all.add(Script.actions("offers three buffers at a time", peer -> {
            for (int i = 0; i < 3; i++) {
                peer.offer((i + 1) & 1, new BufferDescriptor(1000, 5, 1000), CREDITS);
            }
        }));
        all.add(Script.actions(
                "offers an entry after the table", peer -> peer.offer(2, new BufferDescriptor(1, 2, 3), CREDITS)));
        return all;
    }

    private static final int CREDITS = 384;

    private static List<Script> requests() {
        List<Script> all = new ArrayList<>();
        all.add(Script.actions("writes after the buffer", peer -> {
            BufferDescriptor buffer = peer.buffer();
            peer.write(buffer.address() + 2L * buffer.length(), buffer.key(), 1);
        }));
        all.add(Script.actions("writes beyond the end of the buffer", peer -> {
            BufferDescriptor buffer = peer.buffer();
            peer.write(buffer.address() + 2L * buffer.length() - 1, buffer.key(), 4096);
        }));
        all.add(Script.actions(
                "writes before the buffer",
                peer -> peer.write(peer.buffer().address() - 1, peer.buffer().key(), 1)));
        all.add(Script.actions(
                "writes a mebibyte",
                peer -> peer.write(peer.buffer().address(), peer.buffer().key(), 1 << 20)));
        all.add(Script.actions(
                "writes with another key",
                peer -> peer.write(peer.buffer().address(), peer.buffer().key() ^ 1, 8)));
        all.add(Script.actions(
                "writes with an address that wraps around",
                peer -> peer.write(-16, peer.buffer().key(), 32)));
        all.add(Script.actions(
                "reads the buffer",
                peer -> peer.read(peer.buffer().address(), peer.buffer().key(), 64)));
        all.add(Script.actions(
                "reads the table",
                peer -> peer.read(peer.table().address(), peer.table().key(), 16)));
        all.add(Script.actions(
                "adds to the buffer",
                peer -> peer.post(request -> request.fetchAndAdd(
                        peer.buffer().address() & -8, peer.buffer().key(), 1))));
        all.add(Script.actions("sends a message without a control word", peer -> peer.send(0)));
        all.add(Script.actions("sends a message of 65536 bytes", peer -> peer.send(65_536)));
        all.add(Script.actions(
                "invalidates the buffer's key",
                peer -> peer.post(
                        request -> request.withInvalidate(peer.buffer().key()))));
        return all;
    }
}
