package io.rdma4j.link.linux;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.ring.RingLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Processes that hand over something other than a ring, or an invalid ring, are refused; others are accepted. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class RingGreetingTest extends RingEnds {
    /** Offset of the tail in the memory of a ring. */
    private static final int TAIL = 0;

    /** A process that connects and sends arbitrary bytes. */
    private final class Hostile implements AutoCloseable {
        private final Socket socket;

        Hostile() throws IOException {
            socket = Socket.open(sender, Posix.AF_UNIX, Posix.SOCK_STREAM);
            MemorySegment name = SocketAddresses.unix(path);
            assertThat(Posix.connect(socket.errno, socket.fd, name, (int) name.byteSize()))
                    .isZero();
        }

        void send(byte[] bytes) {
            MemorySegment data = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            assertThat(Posix.send(socket.errno, socket.fd, data.address(), bytes.length))
                    .isEqualTo(bytes.length);
            assertThat(data.byteSize()).isEqualTo(bytes.length);
        }

        /** Sends a correct greeting with any descriptor. */
        void greet(int fd) {
            assertThat(new RingGreeting().send(socket, fd, 0, 9)).isTrue();
        }

        boolean isRefused() {
            MemorySegment data = Arena.ofAuto().allocate(16);
            int received = Posix.recv(socket.errno, socket.fd, data.address(), data.byteSize());
            assertThat(received).isLessThanOrEqualTo(0);
            return received != -LinuxErrno.EAGAIN;
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    private static byte[] greeting() {
        return ByteBuffer.allocate(24)
                .order(ByteOrder.nativeOrder())
                .putLong(0x7234_6a52_0000_0001L)
                .array();
    }

    static Stream<byte[]> garbage() {
        byte[] otherVersion = greeting();
        otherVersion[0] ^= 2;
        return Stream.of(
                new byte[1],
                new byte[24],
                new byte[100],
                "GET / HTTP/1.1\r\n\r\n".getBytes(ISO_8859_1),
                greeting(), // without a descriptor
                otherVersion,
                ByteBuffer.allocate(8)
                        .order(ByteOrder.nativeOrder())
                        .put(greeting(), 0, 8)
                        .array());
    }

    @ParameterizedTest
    @MethodSource("garbage")
    void greetingThatIsGarbageIsRefusedAndOthersAreAccepted(byte[] garbage) throws IOException {
        long before = descriptors();
        try (SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            raw.write(ByteBuffer.wrap(garbage));
            assertThat(listener.accept()).isNull();
            assertThat(isAtEnd(raw)).isTrue();
            assertRingsAreStillAccepted();
        }
        assertThat(descriptors()).isEqualTo(before);
    }

    /** Returns whether the other side has closed the connection, perhaps with unread bytes. */
    private static boolean isAtEnd(SocketChannel channel) {
        try {
            return channel.read(ByteBuffer.allocate(1)) == -1;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void processThatConnectsAndEndsIsForgotten() throws IOException {
        long before = descriptors();
        SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
        assertThat(listener.accept()).isNull();
        assertThat(descriptors()).isEqualTo(before);
        try (SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            assertThat(listener.accept()).isNull();
            assertThat(raw.isConnected()).isTrue();
        }
        assertThat(listener.accept()).isNull();
        assertThat(descriptors()).isEqualTo(before);
        assertRingsAreStillAccepted();
    }

    @Test
    void greetingMayComeLongAfterTheConnection() throws IOException {
        try (Hostile first = new Hostile();
                Hostile second = new Hostile();
                SharedMemory memory = SharedMemory.create(RingLayout.RECORDS + RingLayout.MIN_CAPACITY_BYTES)) {
            for (int i = 0; i < 3; i++) {
                assertThat(listener.accept()).isNull();
                assertRingsAreStillAccepted();
            }
            second.greet(memory.descriptor());
            assertThat(receiver.await(Long.MAX_VALUE))
                    .as("the thread that waits is woken")
                    .isTrue();
            ReceiveRing accepted = Objects.requireNonNull(listener.accept());
            assertThat(poll(accepted)).isEmpty();
            assertThat(first.isRefused() || second.isRefused()).isFalse();
            first.send(new byte[1]);
            assertThat(listener.accept()).isNull();
            assertThat(first.isRefused()).isTrue();
            accepted.close();
        }
    }

    /** More processes than may wait: those that connected first are dropped. */
    @Test
    void processesThatConnectAndSendNothingDoNotKeepOthersOut() throws IOException {
        long before = descriptors();
        List<Hostile> silent = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            silent.add(new Hostile());
            if (i % 50 == 0) {
                assertThat(listener.accept()).isNull();
            }
        }
        assertThat(listener.accept()).isNull();
        assertRingsAreStillAccepted();
        receiver.await(0);
        assertThat(receiver.await(1_000_000)).as("the queue is not empty").isFalse();
        silent.forEach(Hostile::close);
        assertThat(listener.accept()).isNull();
        assertThat(descriptors()).isEqualTo(before);
    }

    /** Something that is not the memory of a ring. */
    enum Descriptor {
        ORDINARY_FILE,
        SOCKET,
        UNSEALED,
        SHRINKABLE,
        READ_ONLY,
        EMPTY,
        TOO_SMALL,
        TOO_LARGE,
        NO_POWER_OF_TWO,
        WITHOUT_RECORDS,
        BEYOND_32_BITS
    }

    private static final long SIZE = RingLayout.RECORDS + RingLayout.MIN_CAPACITY_BYTES;
    private static final int O_RDWR = 2;
    private static final int SEAL_ALL = 7;
    private static final int SEAL_GROW_AND_SEAL = 5;
    private static final int SEAL_WRITE = 8;

    private int create(Descriptor kind) throws IOException {
        return switch (kind) {
            case ORDINARY_FILE -> openFile();
            case SOCKET -> Posix.socket(Posix.newErrno(), Posix.AF_UNIX, Posix.SOCK_STREAM, 0);
            case UNSEALED -> memory(SIZE, 0);
            case SHRINKABLE -> memory(SIZE, SEAL_GROW_AND_SEAL);
            case READ_ONLY -> memory(SIZE, SEAL_ALL | SEAL_WRITE);
            case EMPTY -> memory(0, SEAL_ALL);
            case TOO_SMALL -> memory(RingLayout.RECORDS + RingLayout.MIN_CAPACITY_BYTES / 2, SEAL_ALL);
            case TOO_LARGE -> memory(RingLayout.RECORDS + RingLayout.MAX_CAPACITY_BYTES * 2L, SEAL_ALL);
            case NO_POWER_OF_TWO -> memory(SIZE + 4096, SEAL_ALL);
            case WITHOUT_RECORDS -> memory(RingLayout.MIN_CAPACITY_BYTES, SEAL_ALL);
            case BEYOND_32_BITS -> memory((1L << 32) + SIZE, SEAL_ALL);
        };
    }

    private int openFile() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[(int) SIZE]);
        MemorySegment name = Arena.ofAuto().allocateFrom(file.toString());
        int fd = Posix.call(Posix.handle("open", Posix.ERRNO), Posix.newErrno(), name.address(), O_RDWR, 0, 0, 0);
        assertThat(name.byteSize()).isPositive();
        return fd;
    }

    private static int memory(long bytes, int seals) {
        MemorySegment errno = Posix.newErrno();
        int fd = MemoryCalls.create(errno, Arena.ofAuto().allocateFrom("rdma4j-ring"));
        assertThat(MemoryCalls.resize(errno, fd, bytes)).isZero();
        assertThat(MemoryCalls.addSeals(errno, fd, seals)).isZero();
        return fd;
    }

    @ParameterizedTest
    @EnumSource
    void descriptorOfSomethingElseIsRefusedAndClosed(Descriptor kind) throws IOException {
        long before = descriptors();
        long mapped = mappings();
        try (Hostile hostile = new Hostile()) {
            int fd = create(kind);
            assertThat(fd).isPositive();
            hostile.greet(fd);
            Posix.close(fd);
            assertThat(listener.accept()).isNull();
            assertThat(hostile.isRefused()).isTrue();
            assertRingsAreStillAccepted();
        }
        assertThat(descriptors()).isEqualTo(before);
        assertThat(mappings()).isEqualTo(mapped);
    }

    /** The sealed memory of the right size is accepted, so the test above fails for no other reason. */
    @Test
    void sealedMemoryOfTheSizeOfARingIsAccepted() throws IOException {
        try (Hostile hostile = new Hostile()) {
            int fd = memory(SIZE, SEAL_ALL);
            hostile.greet(fd);
            Posix.close(fd);
            assertThat(listener.accept()).isNotNull();
            assertThat(hostile.isRefused()).isFalse();
        }
    }

    @Test
    void whatFollowsTheGreetingIsIgnored() throws IOException {
        long before = descriptors();
        Hostile hostile = new Hostile();
        SharedMemory memory = SharedMemory.create(SIZE);
        hostile.greet(memory.descriptor());
        hostile.greet(memory.descriptor());
        ReceiveRing accepted = Objects.requireNonNull(listener.accept());
        hostile.send(new byte[1000]);
        hostile.greet(memory.descriptor());
        for (int i = 0; i < 20; i++) {
            accepted.checkEnd();
        }
        assertThat(accepted.isEnded()).isFalse();
        assertThat(descriptors()).as("two sockets and the memory").isEqualTo(before + 3);
        hostile.close();
        accepted.checkEnd();
        assertThat(accepted.isEnded()).isTrue();
        accepted.close();
        memory.close();
        assertThat(descriptors()).isEqualTo(before);
    }

    @Test
    void ringWithAnImpossibleTailIsEndedAndDoesNotBlockTheWaitingThread() throws IOException {
        try (Hostile hostile = new Hostile();
                SharedMemory memory = SharedMemory.create(SIZE)) {
            hostile.greet(memory.descriptor());
            ReceiveRing accepted = Objects.requireNonNull(listener.accept());
            memory.segment().set(ValueLayout.JAVA_LONG, TAIL, -1);
            receiver.await(Long.MAX_VALUE);
            receiver.await(Long.MAX_VALUE);
            assertThat(poll(accepted)).isEmpty();
            assertThat(accepted.isEnded()).isTrue();
            accepted.close();
            assertThat(hostile.isRefused()).isTrue();
            assertRingsAreStillAccepted();
        }
    }
}
