package io.rdma4j.conformance.layer;

import static io.rdma4j.conformance.layer.LayerFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.Access;
import io.rdma4j.Batch;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Exposed;
import io.rdma4j.Message;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.layer.LayerFixture.Ends;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkRequestException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages of the upper layer. */
@Timeout(120)
class MessagesTest {
    private static final ConnectionOptions MESSAGES =
            ConnectionOptions.defaults().withMessages(4, 64);

    private final LayerFixture fixture = new LayerFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void messagesArriveInOrderWithTheirLengths() {
        try (Ends ends = fixture.connect(MESSAGES);
                Buffer buffer = ends.client().allocate(64)) {
            for (int length = 0; length <= 64; length++) {
                buffer.memory().fill((byte) length);
                ends.client().send(buffer.slice(0, length));
                try (Message message = ends.server().receive(PATIENCE)) {
                    assertThat(message.lengthBytes()).isEqualTo(length);
                    assertThat(message.memory().mismatch(buffer.memory().asSlice(0, length)))
                            .isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void aServerAnswersClientsThatComeAndGo() throws Exception {
        List<Future<?>> all = new ArrayList<>();
        fixture.threads.execute(() -> {
            for (ConnectionRequest request : fixture.listener) {
                fixture.threads.execute(() -> serve(request));
            }
        });
        for (int client = 0; client < 8; client++) {
            all.add(fixture.threads.submit(this::ask));
        }
        for (Future<?> each : all) {
            each.get();
        }
    }

    /** Answers each number with its square, in place. */
    private static void serve(ConnectionRequest request) {
        try (Connection client = request.messages(4, 64).accept()) {
            for (Message message : client.messages()) {
                try (message) {
                    long number = message.memory().get(ValueLayout.JAVA_LONG, 0);
                    message.memory().set(ValueLayout.JAVA_LONG, 0, number * number);
                    client.send(message.buffer());
                }
            }
        }
    }

    private Void ask() {
        try (Connection server = Connection.to(fixture.address()).messages(2, 8).connect();
                Buffer buffer = server.allocate(8)) {
            for (long number = 1; number <= 20; number++) {
                buffer.memory().set(ValueLayout.JAVA_LONG, 0, number);
                server.send(buffer);
                try (Message answer = server.receive(PATIENCE)) {
                    assertThat(answer.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(number * number);
                }
            }
        }
        return null;
    }

    @Test
    @NotOn(value = Driver.SIW, because = "iWARP has no immediate data")
    void immediateDataArriveWithMessagesAndAfterWrites() {
        try (Ends ends = fixture.connect(MESSAGES);
                Exposed exposed = Exposed.of(Arena.ofAuto().allocate(8), Access.WRITE);
                Buffer number = ends.client().allocate(8)) {
            number.memory().set(ValueLayout.JAVA_LONG, 0, 4711);
            RemoteMemory target = exposed.at(ends.server());
            ends.client().sendWithImmediate(number, -1);
            assertNext(ends.server(), -1, 8);
            ends.client().writeWithImmediate(number, target, 7, PATIENCE);
            assertNext(ends.server(), 7, 0);
            assertThat(exposed.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(4711);
            number.memory().set(ValueLayout.JAVA_LONG, 0, 42);
            ends.client()
                    .batch()
                    .writeWithImmediate(number, target, 8)
                    .sendWithImmediate(number, 9)
                    .send(number)
                    .post()
                    .await();
            assertNext(ends.server(), 8, 0);
            assertThat(exposed.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
            assertNext(ends.server(), 9, 8);
            try (Message plain = ends.server().receive(PATIENCE)) {
                assertThat(plain.hasImmediate()).isFalse();
                assertThat(plain.immediate()).isZero();
            }
        }
    }

    private static void assertNext(Connection receiver, int immediate, long lengthBytes) {
        try (Message message = receiver.receive(PATIENCE)) {
            assertThat(message.hasImmediate()).isTrue();
            assertThat(message.immediate()).isEqualTo(immediate);
            assertThat(message.lengthBytes()).isEqualTo(lengthBytes);
        }
    }

    @Test
    void messagesThatArrivedBeforeTheEndAreReceived() {
        try (Ends ends = fixture.connect(MESSAGES);
                Buffer buffer = ends.client().allocate(8)) {
            for (int i = 0; i < 3; i++) {
                ends.client().send(buffer);
            }
            ends.client().close();
            int count = 0;
            for (Message message : ends.server().messages()) {
                message.close();
                count++;
            }
            assertThat(count).isEqualTo(3);
            assertThatExceptionOfType(DisconnectedException.class)
                    .isThrownBy(() -> ends.server().receive());
        }
    }

    /** No receive is posted then, so no completion tells of the end. */
    @Test
    void aReceiveEndsWithTheConnectionAlthoughAllPlacesAreOccupied() throws Exception {
        try (Ends ends = fixture.connect(MESSAGES);
                Buffer buffer = ends.client().allocate(8)) {
            for (int i = 0; i < 4; i++) {
                ends.client().send(buffer);
                var _ = ends.server().receive(PATIENCE);
            }
            Future<?> receiving = fixture.threads.submit(() -> assertThatExceptionOfType(DisconnectedException.class)
                    .isThrownBy(() -> ends.server().receive()));
            ends.client().close();
            receiving.get();
        }
    }

    /** With the time of the connection manager, 655 ms, the sender would wait for ten seconds. */
    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, whose sender does not try again")
    void aSenderContinuesSoonAfterItsPeerHasAPlaceAgain() throws Exception {
        try (Ends ends = fixture.connect(MESSAGES.withMessages(1, 8));
                Buffer buffer = ends.client().allocate(8)) {
            Future<?> receiving = fixture.threads.submit(() -> {
                for (int i = 0; i < 16; i++) {
                    try (Message _ = ends.server().receive(PATIENCE)) {
                        Thread.sleep(5); // a slow receiver, whose places are used up
                    }
                }
                return null;
            });
            long start = System.nanoTime();
            for (int i = 0; i < 16; i++) {
                ends.client().send(buffer, PATIENCE);
            }
            receiving.get();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
        }
    }

    @Test
    void aReceiveThatTimesOutLeavesTheConnection() {
        try (Ends ends = fixture.connect(MESSAGES);
                Buffer buffer = ends.client().allocate(8)) {
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> ends.server().receive(Duration.ofMillis(50)));
            ends.client().send(buffer);
            ends.server().receive(PATIENCE).close();
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which completes a request when it is sent")
    void aMessageLongerThanThePlacesFailsBothEnds() {
        try (Ends ends = fixture.connect(MESSAGES);
                Buffer buffer = ends.client().allocate(65)) {
            assertThatExceptionOfType(WorkRequestException.class)
                    .isThrownBy(() -> ends.client().send(buffer));
            assertThatExceptionOfType(WorkRequestException.class)
                    .isThrownBy(() -> ends.server().receive(PATIENCE));
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which completes a request when it is sent")
    void aBatchIsWaitedForWithoutAnEndOfTheConnection() {
        try (Ends ends = fixture.connect(ConnectionOptions.defaults().withMessages(1, 8));
                Buffer buffer = ends.client().allocate(8)) {
            Batch batch = ends.client().batch().send(buffer).send(buffer).post(); // the second finds no place
            assertThat(batch.tryAwait(Duration.ofMillis(20))).isFalse();
            assertThat(batch.isComplete()).isFalse();
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedRdmaException.class).isThrownBy(() -> batch.tryAwait(PATIENCE));
            assertThat(Thread.interrupted()).isTrue();
            assertThat(ends.client().isOpen()).isTrue();

            ends.server().receive(PATIENCE).close();
            ends.server().receive(PATIENCE).close();
            assertThat(batch.tryAwait(PATIENCE)).isTrue();
            assertThat(batch.isComplete()).isTrue();

            batch.send(buffer).send(buffer).post();
            ends.server().close();
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> batch.tryAwait(PATIENCE));
            assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::isComplete);
        }
    }

    @Test
    void aReceiveWithoutAFreePlaceSaysSo() {
        try (Ends ends = fixture.connect(ConnectionOptions.defaults().withMessages(1, 8));
                Buffer buffer = ends.client().allocate(8)) {
            ends.client().send(buffer);
            try (Message _ = ends.server().receive(PATIENCE)) {
                assertThatExceptionOfType(RdmaTimeoutException.class)
                        .isThrownBy(() -> ends.server().receive(Duration.ofMillis(20)))
                        .withMessageContaining("all 1 places");
            }
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "iWARP has no immediate data")
    void notificationsNeedPlacesWithoutMemory() {
        try (Ends ends = fixture.connect(ConnectionOptions.defaults().withMessages(4, 0));
                Exposed exposed = Exposed.of(Arena.ofAuto().allocate(8), Access.WRITE);
                Buffer buffer = ends.client().allocate(8)) {
            for (int i = 0; i < 10; i++) {
                ends.client().writeWithImmediate(buffer, exposed.at(ends.server()), i);
                assertNext(ends.server(), i, 0);
            }
        }
    }

    @Test
    void aReceiveTakesAtMostItsTimeBehindAnotherThread() throws Exception {
        try (Ends ends = fixture.connect(MESSAGES)) {
            Future<Message> first = fixture.threads.submit(() -> ends.server().receive());
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> ends.server().receive(Duration.ofMillis(100)));
            try (Buffer buffer = ends.client().allocate(8)) {
                ends.client().send(buffer);
            }
            first.get().close();
            Future<Message> last = fixture.threads.submit(() -> ends.server().receive());
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedRdmaException.class)
                    .isThrownBy(() -> ends.server().receive());
            assertThat(Thread.interrupted()).isTrue();
            ends.server().close();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(last::get)
                    .withCauseInstanceOf(ClosedException.class);
        }
    }

    @Test
    void aMessageIsClosedOnceByAnyNumberOfThreads() throws Exception {
        try (Ends ends = fixture.connect(MESSAGES);
                Buffer number = ends.client().allocate(8)) {
            for (int i = 0; i < 500; i++) {
                number.memory().set(ValueLayout.JAVA_LONG, 0, i);
                ends.client().send(number);
                Message message = ends.server().receive(PATIENCE);
                assertThat(message.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
                Future<?> other = fixture.threads.submit(message::close);
                message.close();
                other.get();
            }
        }
    }

    @Test
    void aClosedMessageCannotBeUsed() {
        try (Ends ends = fixture.connect(MESSAGES);
                Buffer buffer = ends.client().allocate(8)) {
            ends.client().send(buffer);
            Message message = ends.server().receive(PATIENCE);
            message.close();
            message.close();
            assertThatIllegalStateException().isThrownBy(message::memory);
        }
    }

    @Test
    void aConnectionWithoutPlacesReceivesNoMessages() {
        try (Ends ends = fixture.connect(ConnectionOptions.defaults())) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> ends.client().receive())
                    .withMessageContaining("messages(count, bytes)");
        }
    }
}
