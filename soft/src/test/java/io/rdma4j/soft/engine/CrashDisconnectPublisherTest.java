package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.LocalChannel;
import io.rdma4j.soft.process.ProcessStack;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Another process keeps the wills of the connections that there are, and of no others. */
class CrashDisconnectPublisherTest {
    private static final int SLOT = 255;

    private final Engine engine = ProcessStack.stack().internals().engine();
    private final CrashDisconnectPublisher teller = new CrashDisconnectPublisher(engine);

    /** The wills that should be kept. */
    private final Map<Integer, CrashDisconnect> live = new LinkedHashMap<>();

    /** The other process, which has room for so many messages. */
    private static final class Keeper implements LocalChannel {
        private final CrashDisconnectStore crashDisconnects = new CrashDisconnectStore();
        private int room = Integer.MAX_VALUE;
        private int messages;

        @Override
        public boolean send(ByteBuffer header, ByteBuffer body) {
            if (room == 0) {
                return false;
            }
            room--;
            messages++;
            assertThat(crashDisconnects.take(header, SLOT)).isTrue();
            return true;
        }

        @Override
        public @Nullable ByteBuffer poll() {
            return null;
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public void close() {}
    }

    /** The test tells, and not the engine's timer. */
    @BeforeEach
    void lock() {
        engine.lock();
    }

    @AfterEach
    void unlock() {
        engine.cancel(teller);
        engine.unlock();
    }

    private void add(int number, int remoteId) {
        CrashDisconnect crashDisconnect = new CrashDisconnect(SLOT << 24 | number, 5, remoteId, 6, 0, 0, number);
        teller.add(crashDisconnect);
        live.put(crashDisconnect.localId(), crashDisconnect);
    }

    private void remove(int number) {
        teller.remove(SLOT << 24 | number);
        live.remove(SLOT << 24 | number);
    }

    @Test
    void willOfAConnectionThatIsOverIsKeptNoMore() {
        Keeper keeper = new Keeper();
        teller.keeper(keeper);
        add(1, 1);
        add(2, 1);
        teller.tell();
        remove(1);
        teller.tell();
        assertThat(keeper.crashDisconnects.open()).containsExactlyElementsOf(live.values());
    }

    @Test
    void connectionThatIsOverBeforeItsWillWasToldCostsNoMessage() {
        Keeper keeper = new Keeper();
        teller.keeper(keeper);
        add(1, 1);
        remove(1);
        teller.tell();
        assertThat(keeper.messages).isZero();
        add(1, 1);
        teller.tell();
        remove(1);
        teller.tell();
        assertThat(keeper.messages).isEqualTo(2);
        add(1, 2);
        remove(1);
        teller.tell();
        assertThat(keeper.messages).isEqualTo(2);
    }

    @Test
    void newKeeperHasTheWillsOfThePresentConnectionsOnly() {
        Keeper before = new Keeper();
        teller.keeper(before);
        add(1, 1);
        add(2, 1);
        teller.tell();
        teller.keeper(null);
        remove(1);
        add(3, 1);
        Keeper after = new Keeper();
        teller.keeper(after);
        teller.tell();
        assertThat(after.crashDisconnects.open()).containsExactlyInAnyOrderElementsOf(live.values());
    }

    @Test
    void keeperHasWhatThereIsInTheEndHoweverConnectionsComeAndGoAndMessagesFindNoRoom() {
        for (int seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            Keeper keeper = new Keeper();
            teller.keeper(keeper);
            for (int step = 0; step < 2_000; step++) {
                int number = 1 + random.nextInt(600);
                if (random.nextInt(100) == 0) {
                    keeper.room = random.nextInt(3);
                    teller.tell();
                } else if (random.nextBoolean()) {
                    add(number, 1 + random.nextInt(9));
                } else {
                    remove(number);
                }
            }
            keeper.room = Integer.MAX_VALUE;
            teller.tell();
            assertThat(keeper.crashDisconnects.open())
                    .as("seed %d", seed)
                    .containsExactlyInAnyOrderElementsOf(live.values());
        }
    }
}
