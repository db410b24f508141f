package io.rdma4j.conformance.layer;

import static io.rdma4j.conformance.layer.LayerFixture.PATIENCE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.Access;
import io.rdma4j.Batch;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Exposed;
import io.rdma4j.cm.ConnectionRejectedException;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.conformance.layer.LayerFixture.Ends;
import io.rdma4j.value.PlacementType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.RemoteAccessException;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections of the upper layer: memory of the peer, failures, and the end. */
@Timeout(120)
class ConnectionTest {
    private static final int BYTES = 4096;

    private final LayerFixture fixture = new LayerFixture();
    private final MemorySegment memory = Arena.ofAuto().allocate(BYTES, 8);
    private final Exposed table = Exposed.of(memory, Access.READ, Access.WRITE, Access.ATOMIC);

    @AfterEach
    void close() {
        table.close();
        fixture.close();
    }

    /** Connects to a server that exposes the table. */
    private Ends connect(ConnectionOptions options) {
        CompletableFuture<Connection> accepted = CompletableFuture.supplyAsync(
                () -> fixture.listener.accept(PATIENCE).privateData(table).accept(), fixture.threads);
        Connection client = Connection.to(fixture.address()).options(options).connect();
        return new Ends(client, accepted.join());
    }

    private Ends connect() {
        return connect(ConnectionOptions.defaults());
    }

    @Test
    void readOnlyMemoryIsWrittenFromAndExposed() {
        MemorySegment text = Arena.ofAuto().allocateFrom("read only").asReadOnly();
        try (Ends ends = connect();
                Exposed exposed = Exposed.of(text, Access.READ);
                Buffer source = ends.client().register(text);
                Buffer copy = ends.client().allocate(text.byteSize())) {
            ends.client().write(source, ends.client().peer().memory());
            assertThat(memory.getString(0)).isEqualTo("read only");
            ends.client().read(copy, exposed.at(ends.server()));
            assertThat(copy.memory().getString(0)).isEqualTo("read only");
        }
    }

    @Test
    void readOnlyMemoryCannotBeExposedToWriters() {
        try (Ends ends = connect();
                Exposed exposed = Exposed.of(memory.asReadOnly(), Access.READ, Access.WRITE)) {
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> exposed.at(ends.server()));
        }
    }

    @Test
    void memoryIsWrittenAndRead() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(BYTES)) {
            RemoteMemory remote = ends.client().peer().memory();
            for (int i = 0; i < BYTES; i++) {
                buffer.memory().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
            }
            ends.client().write(buffer, remote);
            assertThat(memory.mismatch(buffer.memory())).isEqualTo(-1);
            buffer.memory().fill((byte) 0);
            ends.client().read(buffer.slice(100, 50), remote.slice(200, 50));
            assertThat(buffer.memory().asSlice(100, 50).mismatch(memory.asSlice(200, 50)))
                    .isEqualTo(-1);
            assertThat(buffer.memory().get(ValueLayout.JAVA_BYTE, 150)).isZero();
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has no atomic operations")
    void numbersAreChangedAtomically() {
        try (Ends ends = connect()) {
            RemoteMemory number = ends.client().peer().memory().slice(8, 8);
            assertThat(ends.client().fetchAndAdd(number, 5)).isZero();
            assertThat(ends.client().compareAndSwap(number, 5, 9)).isEqualTo(5);
            assertThat(ends.client().compareAndSwap(number, 5, 1)).isEqualTo(9);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(9);
        }
    }

    @Test
    void whatIsFlushedWasWrittenBefore() {
        TestDevices.require(Capability.FLUSH);
        try (Ends ends = connect();
                Exposed flushable = Exposed.of(Arena.ofAuto().allocate(64, 8), Access.WRITE, Access.FLUSH_GLOBAL);
                Buffer buffer = ends.client().allocate(8)) {
            RemoteMemory target = flushable.at(ends.server());
            Set<PlacementType> types = Set.of(PlacementType.GLOBAL);
            buffer.memory().set(ValueLayout.JAVA_LONG, 0, 3);
            ends.client().write(buffer, target);
            ends.client().flush(target, types);
            assertThat(flushable.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(3);
            ends.client().atomicWrite(target.slice(8, 8), 4, PATIENCE);
            assertThat(flushable.memory().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(4);
            ends.client()
                    .batch()
                    .write(buffer, target.slice(16, 8))
                    .flush(target, types)
                    .atomicWrite(target.slice(24, 8), 5)
                    .post()
                    .await();
            assertThat(flushable.memory().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(3);
            assertThat(flushable.memory().get(ValueLayout.JAVA_LONG, 24)).isEqualTo(5);
            assertThatIllegalArgumentException().isThrownBy(() -> ends.client().flush(target, Set.of()));
            assertThatIllegalArgumentException().isThrownBy(() -> ends.client().atomicWrite(target.slice(0, 7), 0));
            ends.client().flush(target, types, PATIENCE);
        }
    }

    @Test
    void memoryAndOtherPrivateDataAreSentTogether() {
        byte[] name = "table 7".getBytes(UTF_8);
        CompletableFuture<Connection> accepted = CompletableFuture.supplyAsync(
                () -> fixture.listener.accept(PATIENCE).privateData(table, name).accept(), fixture.threads);
        Connection client = Connection.to(fixture.address()).connect();
        try (Ends ends = new Ends(client, accepted.join())) {
            assertThat(ends.client().peer().memory().lengthBytes()).isEqualTo(BYTES);
            assertThat(ends.client().peer().dataAfterMemory()).startsWith(name);
            assertThatIllegalStateException()
                    .isThrownBy(() -> ends.server().peer().dataAfterMemory())
                    .withMessageContaining("the peer " + TestDevices.address().getHostAddress() + ":");
        }
    }

    @Test
    void mistakesAreRefusedBeforeAnythingIsSent() throws Exception {
        Buffer closed = null;
        try (Ends ends = fixture.connect(ConnectionOptions.defaults())) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> ends.client().peer().memory())
                    .withMessageContaining("has exposed no memory");
            closed = ends.client().allocate(8);
            Buffer part = closed.slice(0, 4);
            closed.close();
            assertThatIllegalStateException().isThrownBy(() -> ends.client().send(part));
            assertThat(ends.client().isOpen()).isTrue();
            try (Arena confined = Arena.ofConfined()) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> Exposed.of(confined.allocate(8), Access.READ))
                        .withMessageContaining("Arena.ofShared()");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> ends.client().register(confined.allocate(8)));
            }
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which completes a request when it is sent")
    void operationsOfAConnectionHaveATime() {
        ConnectionOptions options = ConnectionOptions.defaults().withOperationTimeout(Duration.ofMillis(200));
        try (Ends ends = fixture.connect(options);
                Buffer message = ends.client().allocate(8)) {
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> ends.client().send(message)) // the server has no places
                    .withMessageContaining("messages(count, bytes)");
            assertThat(ends.client().isOpen()).isFalse();
        }
    }

    @Test
    void lengthsAreCheckedBeforeAnythingIsSent() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(64)) {
            RemoteMemory remote = ends.client().peer().memory();
            assertThatIllegalArgumentException().isThrownBy(() -> ends.client().write(buffer, remote.slice(0, 63)));
            assertThatIllegalArgumentException().isThrownBy(() -> ends.client().read(buffer, remote));
            assertThatIllegalArgumentException().isThrownBy(() -> ends.client().fetchAndAdd(remote.slice(0, 4), 1));
            ends.client().write(buffer, remote);
        }
    }

    @Test
    void threadsShareAConnection() throws Exception {
        try (Ends ends = connect(ConnectionOptions.defaults().withSends(3))) {
            Connection client = ends.client();
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                RemoteMemory own = client.peer().memory().slice(i * 64L, 64);
                byte value = (byte) (i + 1);
                all.add(fixture.threads.submit(() -> {
                    try (Buffer buffer = client.allocate(64);
                            Buffer back = client.allocate(64)) {
                        buffer.memory().fill(value);
                        for (int round = 0; round < 50; round++) {
                            client.write(buffer, own);
                            client.read(back, own);
                            assertThat(back.memory().mismatch(buffer.memory())).isEqualTo(-1);
                        }
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }

    @Test
    void aBatchIsLargerThanTheQueue() {
        try (Ends ends = connect(ConnectionOptions.defaults().withSends(4));
                Buffer buffer = ends.client().allocate(BYTES)) {
            buffer.memory().fill((byte) 3);
            Batch batch = ends.client().batch();
            for (int at = 0; at < BYTES; at += 64) {
                batch.write(buffer.slice(at, 64), ends.client().peer().memory().slice(at, 64));
            }
            assertThat(batch.size()).isEqualTo(BYTES / 64);
            batch.post().await(PATIENCE);
            assertThat(batch.size()).isZero();
            assertThat(memory.mismatch(buffer.memory())).isEqualTo(-1);
            buffer.memory().fill((byte) 0);
            batch.read(buffer, ends.client().peer().memory()).post();
            batch.await();
            assertThat(memory.mismatch(buffer.memory())).isEqualTo(-1);
        }
    }

    @Test
    void operationsThatAreNotPostedCanBeRemovedFromABatch() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(BYTES)) {
            buffer.memory().fill((byte) 5);
            Batch batch =
                    ends.client().batch().write(buffer, ends.client().peer().memory());
            RemoteMemory tooShort = ends.client().peer().memory().slice(0, 8);
            assertThatIllegalArgumentException().isThrownBy(() -> batch.write(buffer, tooShort));
            assertThat(batch.size()).isEqualTo(1);
            batch.clear();
            assertThat(batch.size()).isZero();
            batch.write(buffer.slice(0, 8), tooShort).post().await();
            assertThat(memory.asSlice(0, 8).mismatch(buffer.memory().asSlice(0, 8)))
                    .isEqualTo(-1);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 8)).isNotEqualTo((byte) 5);
        }
    }

    @Test
    void batchThatTheDeviceRefusesInPartEndsTheConnection() {
        try (Ends ends = connect(ConnectionOptions.defaults().withCloseTimeout(Duration.ofHours(1)));
                Buffer buffer = ends.client().allocate(8)) {
            RemoteMemory target = ends.client().peer().memory().slice(0, 8);
            RemoteMemory tooLarge = new RemoteMemory(target.address(), target.key(), 1L << 32); // for a FLUSH
            Batch batch = ends.client().batch().flush(tooLarge, Set.of(PlacementType.GLOBAL));
            assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::post);
            assertThat(ends.client().isOpen()).isTrue();

            batch.write(buffer, target).flush(tooLarge, Set.of(PlacementType.GLOBAL));
            assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::post);
            assertThat(ends.client().isOpen()).isFalse();
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which completes a request when it is sent")
    void refusedAccessHasAnExceptionOfItsOwnAndEndsTheConnection() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(64)) {
            RemoteMemory remote = ends.client().peer().memory();
            RemoteMemory beyond = new RemoteMemory(remote.address() + BYTES, remote.key(), 64);
            assertThatExceptionOfType(RemoteAccessException.class)
                    .isThrownBy(() -> ends.client().write(buffer, beyond))
                    .withMessageContaining("remote access error");
            assertThat(ends.client().isOpen()).isFalse();
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> ends.client().write(buffer, remote));
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which completes a request when it is sent")
    void closedMemoryRefusesItsPeers() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(64)) {
            RemoteMemory remote = ends.client().peer().memory();
            table.close();
            assertThatExceptionOfType(RemoteAccessException.class)
                    .isThrownBy(() -> ends.client().write(buffer, remote));
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which reports a rejection as an errno")
    void rejectionHasTheDataOfThePeer() {
        CompletableFuture<Void> rejected = CompletableFuture.runAsync(
                () -> {
                    ConnectionRequest request = fixture.listener.accept(PATIENCE);
                    assertThat(request.peer().privateData()).startsWith("who".getBytes(UTF_8));
                    request.reject("no".getBytes(UTF_8));
                },
                fixture.threads);
        ConnectionRejectedException refused = catchThrowableOfType(
                ConnectionRejectedException.class,
                () -> Connection.to(fixture.address())
                        .privateData("who".getBytes(UTF_8))
                        .connect());
        rejected.join();
        assertThat(refused.isByProgram()).isTrue();
        assertThat(refused.privateData()).startsWith("no".getBytes(UTF_8));
    }

    @Test
    void connectingTakesAtMostItsTime() {
        long start = System.nanoTime();
        assertThatExceptionOfType(RdmaTimeoutException.class)
                .isThrownBy(() ->
                        Connection.to(fixture.address()).connect(Duration.ofMillis(300))); // nobody takes the request
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(300), PATIENCE);
    }

    @Test
    void theOtherEndHearsOfTheEnd() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(64)) {
            assertThat(ends.client().isOpen()).isTrue();
            ends.server().close();
            ends.client().awaitEnd(PATIENCE);
            assertThat(ends.client().isOpen()).isFalse();
            assertThatExceptionOfType(DisconnectedException.class)
                    .isThrownBy(() ->
                            ends.client().write(buffer, ends.client().peer().memory()));
        }
    }

    @Test
    void closingEndsCallsOfOtherThreads() throws Exception {
        try (Ends ends = connect()) {
            Future<?> waiting = fixture.threads.submit(() -> ends.client().awaitEnd());
            ends.client().close();
            waiting.get();
            ends.client().close();
            assertThatExceptionOfType(ClosedException.class)
                    .isThrownBy(() -> ends.client().allocate(64));
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which completes a request when it is sent")
    void anInterruptEndsTheOperationAndTheConnection() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(64)) {
            // The peer has no place for a message, so the call waits.
            CompletableFuture<RdmaException> failed = new CompletableFuture<>();
            Thread sending = Thread.ofVirtual().start(() -> {
                failed.complete(catchThrowableOfType(
                        RdmaException.class, () -> ends.client().send(buffer)));
            });
            sending.interrupt();
            assertThat(failed.join()).isInstanceOf(InterruptedRdmaException.class);
            assertThat(ends.client().isOpen()).isFalse();
            ends.server().awaitEnd(PATIENCE);
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which completes a request when it is sent")
    void anOperationTakesAtMostItsTime() {
        try (Ends ends = connect();
                Buffer buffer = ends.client().allocate(64)) {
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> ends.client().send(buffer, Duration.ofMillis(100)));
            assertThat(ends.client().isOpen()).isFalse();
        }
    }
}
