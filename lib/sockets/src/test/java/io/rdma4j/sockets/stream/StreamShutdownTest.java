package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.stream.StreamEnd.Posted;
import io.rdma4j.wire.rsocket.ControlWord;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the end of one direction of a stream, of both directions, and of the connection. */
@ParameterizedClass
@ValueSource(booleans = {true, false})
class StreamShutdownTest {
    private static final StreamSizes SIZES = new StreamSizes(32, 20, 16_384, 8192, 64, 4);

    @Parameter
    boolean hasImmediate;

    private StreamPair pair = new StreamPair(SIZES, SIZES, true);
    private StreamProtocol a = pair.a.protocol;
    private StreamProtocol b = pair.b.protocol;

    @BeforeEach
    void start() {
        pair = StreamPair.started(SIZES, hasImmediate);
        a = pair.a.protocol;
        b = pair.b.protocol;
    }

    private static void assertControl(Posted request, int value) {
        assertThat(request.kind()).isEqualTo(ControlWord.CONTROL);
        assertThat(request.value()).isEqualTo(value);
        assertThat(request.bytes()).isEmpty();
    }

    @Test
    void endWithShutOutputCanReceive() {
        pair.write(pair.a, 3000);
        a.shutdownOutput();
        assertControl(pair.a.posted.getLast(), ControlWord.SHUTDOWN);
        assertThat(pair.write(pair.a, 10)).isZero();
        pair.deliver();
        assertThat(b.availableBytes()).isEqualTo(3000);
        assertThat(b.isInputEnded()).isTrue();
        assertThat(pair.read(pair.b, 5000)).isEqualTo(3000);
        assertThat(b.isOpen()).isTrue();
        pair.write(pair.b, 4000);
        pair.deliver();
        assertThat(pair.read(pair.a, 5000)).isEqualTo(4000);
        assertThat(a.isInputEnded()).isFalse();
    }

    @Test
    void shuttingTheSecondDirectionDisconnects() {
        a.shutdownOutput();
        pair.deliver();
        pair.write(pair.b, 100);
        b.shutdownOutput();
        assertControl(pair.b.posted.getLast(), ControlWord.DISCONNECT);
        pair.deliver();
        assertThat(a.isDisconnected()).isTrue();
        assertThat(b.isDisconnected()).isTrue();
        assertThat(pair.read(pair.a, 200)).as("bytes before the end").isEqualTo(100);
        assertThat(a.isQuiet()).isTrue();
        assertThat(b.isQuiet()).isTrue();
    }

    @Test
    void shuttingTwiceSendsNothing() {
        a.shutdownOutput();
        a.shutdownOutput();
        assertThat(pair.a.posted).hasSize(1);
        a.disconnect();
        a.disconnect();
        assertThat(pair.a.posted).hasSize(2);
        assertControl(pair.a.posted.getLast(), ControlWord.DISCONNECT);
    }

    @Test
    void shutdownsMayCross() {
        a.shutdownOutput();
        b.shutdownOutput();
        pair.deliver();
        assertThat(a.isDisconnected()).isTrue();
        assertThat(b.isDisconnected()).isTrue();
        assertThat(a.failure()).isNull();
        assertThat(b.failure()).isNull();
        assertThat(a.isQuiet()).isTrue();
    }

    @Test
    void disconnectsMayCross() {
        pair.write(pair.a, 50);
        a.disconnect();
        b.disconnect();
        assertControl(pair.a.posted.getLast(), ControlWord.DISCONNECT);
        assertControl(pair.b.posted.getLast(), ControlWord.DISCONNECT);
        assertThat(a.isQuiet()).isFalse();
        pair.deliver();
        assertThat(a.isQuiet()).isTrue();
        assertThat(b.isQuiet()).isTrue();
        assertThat(a.failure()).isNull();
        assertThat(b.failure()).isNull();
    }

    @Test
    void dataThatCrossesADisconnectIsIgnored() {
        a.disconnect();
        pair.write(pair.b, 50);
        pair.deliver();
        assertThat(a.failure()).isNull();
        assertThat(a.availableBytes()).isZero();
        assertThat(b.isInputEnded()).isTrue();
    }

    @Test
    void bytesSentBeforeADisconnectCanBeRead() {
        pair.write(pair.a, 5000);
        a.disconnect();
        pair.deliver();
        assertThat(b.isDisconnected()).isTrue();
        assertThat(b.isInputEnded()).isTrue();
        assertThat(pair.write(pair.b, 1)).isZero();
        assertThat(pair.read(pair.b, 3000)).isEqualTo(3000);
        assertThat(pair.read(pair.b, 3000)).isEqualTo(2000);
        assertThat(pair.b.posted).as("no credit is needed any more").isEmpty();
    }

    @Test
    void endIsSentWhenTheSendQueueHasAFreeEntry() {
        for (int i = 0; i < 4; i++) {
            a.keepAlive();
        }
        a.disconnect();
        assertThat(pair.a.posted).hasSize(4);
        assertThat(a.isQuiet()).isFalse();
        pair.deliver();
        assertThat(b.isDisconnected()).isTrue();
        assertThat(a.isQuiet()).isTrue();
    }

    @Test
    void delayedShutdownIsSentEvenAfterThePeersShutdown() {
        for (int i = 0; i < 4; i++) {
            a.keepAlive();
        }
        a.shutdownOutput();
        b.shutdownOutput();
        pair.deliver();
        assertThat(a.isDisconnected()).isTrue();
        assertThat(b.isInputEnded()).as("the peer is notified").isTrue();
        assertThat(b.isDisconnected()).isTrue();
        assertThat(a.isQuiet()).isTrue();
    }

    @Test
    void endThatCannotBeSentIsNotAwaited() {
        for (int i = 0; i < 4; i++) {
            a.keepAlive();
        }
        a.disconnect();
        a.onDisconnected();
        pair.deliver();
        assertThat(a.isQuiet()).isTrue();
        assertThat(b.isDisconnected()).isFalse();
    }

    @Test
    void endWithShutInputLetsThePeerSend() {
        pair.write(pair.a, 5000);
        pair.deliver();
        b.shutdownInput();
        assertThat(b.availableBytes()).isZero();
        assertThat(b.isInputEnded()).isTrue();
        for (int i = 0; i < 20; i++) {
            while (pair.a.posted.size() + pair.b.posted.size() > 0) {
                move(pair.a, pair.b);
                move(pair.b, pair.a);
            }
            assertThat(pair.a.write(new byte[4000])).as("round %d", i).isEqualTo(4000);
        }
        assertThat(pair.b.read(100)).isEmpty();
        assertThat(a.isOpen()).isTrue();
        assertThat(b.failure()).isNull();
    }

    private static void move(StreamEnd from, StreamEnd to) {
        if (!from.posted.isEmpty()) {
            Posted request = from.takePosted();
            to.store(request.bytes(), request.remoteAddress(), request.remoteKey());
            if (request.word() != null) {
                to.word(request.kind(), request.value(), request.bytes().length);
            }
            from.complete();
        }
    }

    @Test
    void shuttingInputSendsNothingAndAfterOutputDisconnects() {
        a.shutdownInput();
        assertThat(pair.a.posted).isEmpty();
        b.shutdownOutput();
        b.shutdownInput();
        assertControl(pair.b.takePosted(), ControlWord.SHUTDOWN);
        assertControl(pair.b.takePosted(), ControlWord.DISCONNECT);
        assertThat(pair.b.posted).isEmpty();
    }

    @Test
    void shuttingOutputAfterInputDisconnects() {
        a.shutdownInput();
        a.shutdownOutput();
        assertControl(pair.a.takePosted(), ControlWord.DISCONNECT);
        assertThat(a.isDisconnected()).isTrue();
    }

    @Test
    void failedRequestBreaksTheStream() {
        pair.write(pair.a, 100);
        a.onSendCompleted(pair.a.takePosted().id(), false);
        assertThat(a.failure()).contains("could not be delivered");
        assertThat(a.isOpen()).isFalse();
        a.update();
        a.keepAlive();
        assertThat(pair.write(pair.a, 100)).isZero();
        assertThat(pair.a.posted).hasSize(hasImmediate ? 0 : 1);
    }

    @Test
    void failedRequestAfterTheEndIsIgnored() {
        a.disconnect();
        Posted last = Objects.requireNonNull(pair.a.posted.peekLast());
        a.onSendCompleted(last.id(), false);
        assertThat(a.failure()).isNull();
        assertThat(a.isQuiet()).isTrue();
    }

    @Test
    void endOfTheConnectionBreaksTheStreamButKeepsReceivedBytes() {
        pair.write(pair.a, 100);
        pair.deliver();
        b.onDisconnected();
        assertThat(b.isDisconnected()).isTrue();
        assertThat(b.failure()).contains("had not ended its output");
        assertThat(pair.read(pair.b, 200)).isEqualTo(100);
        assertThat(pair.write(pair.b, 1)).isZero();
        assertThat(b.isQuiet()).isTrue();
    }

    @Test
    void connectionMayEndAfterTheInputHasEnded() {
        a.shutdownOutput();
        pair.deliver();
        b.onDisconnected();
        assertThat(b.isInputEnded()).isTrue();
        assertThat(b.failure()).isNull();
        a.shutdownInput();
        a.onDisconnected();
        assertThat(a.failure()).isNull();
    }
}
