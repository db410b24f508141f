package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.stream.StreamEnd.Posted;
import io.rdma4j.sockets.stream.Transcript.Line;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Replays the protocol in the role of each of two C peers. The replaying end has that peer's memory, receives the
 * messages that the other peer sent, and its application acts like the C tool. It must send the same bytes as the C
 * peer, in the same order.
 */
class CaptureReplayTest {
    private static final int RECEIVE_QUEUE = 384;
    private static final Integer DISCONNECT = ControlWord.of(ControlWord.CONTROL, ControlWord.DISCONNECT);
    private static final int MAPPINGS_AT = 2 * BufferDescriptor.LENGTH;

    /** Captured data is zeros. If {@code marked}, bytes that identify their position replace it. */
    @ParameterizedTest
    @CsvSource({
        "rstream, client, false",
        "rstream, server, false",
        "rstream, server, true",
        "riostream, client, false",
        "riostream, server, false",
        "riostream, client, true",
        "siw_rstream, client, false",
        "siw_rstream, server, false",
        "siw_rstream, client, true"
    })
    void sendsTheSameAsTheCPeer(String file, String role, boolean marked) {
        new Replay(Transcript.load(file, marked), role).run();
    }

    /** One replay: the remaining transcript, and the end that plays one role of it. */
    private static final class Replay {
        private final String role;
        private final ConnectData ownData;
        private final ConnectData peerData;
        private final ArrayDeque<Line> lines;
        private final StreamEnd end;
        private final ArrayDeque<Byte> arrived = new ArrayDeque<>();
        private @Nullable MappingEntry ownMapping;
        private @Nullable MappingEntry peerMapping;

        Replay(Transcript transcript, String role) {
            this.role = role;
            lines = new ArrayDeque<>(transcript.messages());
            ownData = transcript.connectData(role);
            peerData = transcript.connectData(role.equals("client") ? "server" : "client");
            StreamSizes sizes = new StreamSizes(
                    RECEIVE_QUEUE, RECEIVE_QUEUE, 131_072, 2 * ownData.buffer().length(), 64, ownData.mappingEntries());
            end = new StreamEnd(sizes, transcript.hasImmediate(), ownData.table(), ownData.buffer());
        }

        void run() {
            assertThat(end.protocol.connectData()).isEqualTo(ownData);
            assertThat(end.protocol.onPeer(peerData)).isTrue();
            end.protocol.start();
            while (!lines.isEmpty()) {
                Line line = lines.remove();
                if (line.role().equals(role)) {
                    send(line);
                } else {
                    receive(line);
                }
                assertThat(end.protocol.failure()).as("after %s", line).isNull();
            }
            assertThat(end.posted).as("messages that the C peer did not send").isEmpty();
            assertThat(end.protocol.isDisconnected()).isTrue();
            assertThat(end.protocol.isQuiet()).isTrue();
        }

        private void receive(Line line) {
            byte[] bytes = line.bytes();
            MappingEntry mapping = ownMapping;
            if (mapping != null && line.key() == mapping.memory().key()) {
                int at = (int) (line.address() - mapping.memory().address());
                end.mapped.asSlice(at, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
                return;
            }
            end.store(bytes, line.address(), line.key());
            if (line.key() == ownData.buffer().key()) {
                for (byte each : bytes) {
                    arrived.add(each);
                }
            }
            if (line.address() == ownData.table().address() + MAPPINGS_AT) {
                peerMapping = mapping(bytes);
            }
            Integer word = line.word();
            if (DISCONNECT.equals(word) && !lines.isEmpty()) {
                end.protocol.disconnect(); // they crossed: this side sent a disconnect before it received the peer's
            }
            if (word != null) {
                end.word(ControlWord.kind(word), ControlWord.value(word), bytes.length);
                readAll();
            }
        }

        private void readAll() {
            for (byte each : end.read(100_000)) {
                assertThat(each).isEqualTo(arrived.remove());
            }
            assertThat(arrived).isEmpty();
        }

        /** Acts like the application, unless the protocol has sent a message by itself, and compares the messages. */
        private void send(Line line) {
            if (end.posted.isEmpty()) {
                act(line);
            }
            assertThat(end.posted).as("no message where C sent %s", line).isNotEmpty();
            Posted said = end.takePosted();
            assertThat(said.word()).as("word of %s", line).isEqualTo(line.word());
            assertThat(said.bytes()).as("bytes of %s", line).isEqualTo(line.bytes());
            if (said.bytes().length > 0) {
                assertThat(said.remoteAddress()).as("address of %s", line).isEqualTo(line.address());
                assertThat(said.remoteKey()).as("key of %s", line).isEqualTo(line.key());
            }
            end.complete();
        }

        private void act(Line line) {
            MappingEntry mapping = peerMapping;
            if (line.key() == peerData.buffer().key()) {
                assertThat(end.write(line.bytes())).isEqualTo(line.bytes().length);
            } else if (mapping != null && line.key() == mapping.memory().key()) {
                // The C tool wrote several of these together, and they were sent in pieces of increasing size.
                byte[] all = line.bytes();
                long offset =
                        mapping.offset() + line.address() - mapping.memory().address();
                assertThat(end.protocol.writeMapped(ByteBuffer.wrap(all), offset))
                        .isEqualTo(all.length);
            } else if (line.address() == peerData.table().address() + MAPPINGS_AT) {
                MappingEntry announced = mapping(line.bytes());
                ownMapping = announced;
                assertThat(end.protocol.map(announced)).isZero();
            } else if (DISCONNECT.equals(line.word())) {
                end.protocol.disconnect();
            }
        }

        private static MappingEntry mapping(byte[] bytes) {
            return MappingEntry.read(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), 0);
        }
    }

    /** The bytes that the peer wrote to mapped memory are at the same place as in the C tool's memory. */
    @ParameterizedTest
    @CsvSource({"client", "server"})
    void mappedMemoryHoldsTheBytesOfThePeer(String role) {
        Transcript transcript = Transcript.load("riostream", true);
        Replay replay = new Replay(transcript, role);
        replay.run();
        byte[] memory = replay.end.mapped.asSlice(0, 3000).toArray(ValueLayout.JAVA_BYTE);
        List<Line> written = transcript.messages().stream()
                .filter(line -> !line.role().equals(role) && line.word() == null)
                .toList();
        assertThat(written).hasSize(2);
        ByteBuffer expected = ByteBuffer.allocate(3000);
        written.forEach(line -> expected.put(line.bytes()));
        assertThat(memory).isEqualTo(expected.array());
    }
}
