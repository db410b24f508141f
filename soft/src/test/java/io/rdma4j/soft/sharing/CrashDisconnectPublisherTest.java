package io.rdma4j.soft.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.LocalChannel;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.process.ProcessStack;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The backup process has the crash disconnects of the existing connections, and no others. */
class CrashDisconnectPublisherTest {
    private static final int SLOT = 255;

    private final Engine engine = ProcessStack.stack().internals().engine();
    private final CrashDisconnectPublisher publisher = new CrashDisconnectPublisher(engine);

    /** The crash disconnects that the backup should have. */
    private final Map<Integer, CrashDisconnect> live = new LinkedHashMap<>();

    /** The channel to the backup, which has room for a number of messages. */
    private static final class Backup implements LocalChannel {
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
            assertThat(crashDisconnects.onMessage(header, SLOT)).isTrue();
            return true;
        }

        @Override
        public void sendControl(Object subject, ByteBuffer message) {
            throw new AssertionError("the publisher sends what it has room for");
        }

        @Override
        public boolean hasUnsentControl() {
            return false;
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

    /** Keeps the engine's timer from publishing: the test does it. */
    @BeforeEach
    void lock() {
        engine.lock();
    }

    @AfterEach
    void unlock() {
        engine.cancel(publisher);
        engine.unlock();
    }

    private void add(int number, int remoteId) {
        CrashDisconnect crashDisconnect = new CrashDisconnect(SLOT << 24 | number, 5, remoteId, 6, 0, 0, number);
        publisher.add(crashDisconnect);
        live.put(crashDisconnect.localId(), crashDisconnect);
    }

    private void remove(int number) {
        publisher.remove(SLOT << 24 | number);
        live.remove(SLOT << 24 | number);
    }

    @Test
    void disconnectedConnectionIsRemovedFromTheBackup() {
        Backup backup = new Backup();
        publisher.publishTo(backup);
        add(1, 1);
        add(2, 1);
        publisher.publish();
        remove(1);
        publisher.publish();
        assertThat(backup.crashDisconnects.takeAll()).containsExactlyElementsOf(live.values());
    }

    @Test
    void connectionThatEndsBeforeItWasPublishedCostsNoMessage() {
        Backup backup = new Backup();
        publisher.publishTo(backup);
        add(1, 1);
        remove(1);
        publisher.publish();
        assertThat(backup.messages).isZero();
        add(1, 1);
        publisher.publish();
        remove(1);
        publisher.publish();
        assertThat(backup.messages).isEqualTo(2);
        add(1, 2);
        remove(1);
        publisher.publish();
        assertThat(backup.messages).isEqualTo(2);
    }

    @Test
    void newBackupHasTheExistingConnectionsOnly() {
        Backup before = new Backup();
        publisher.publishTo(before);
        add(1, 1);
        add(2, 1);
        publisher.publish();
        publisher.publishTo(null);
        remove(1);
        add(3, 1);
        Backup after = new Backup();
        publisher.publishTo(after);
        publisher.publish();
        assertThat(after.crashDisconnects.takeAll()).containsExactlyInAnyOrderElementsOf(live.values());
    }

    @Test
    void backupFinallyHasTheExistingConnectionsAlthoughTheChannelIsFullAtTimes() {
        for (int seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            Backup backup = new Backup();
            publisher.publishTo(backup);
            for (int step = 0; step < 2_000; step++) {
                int number = 1 + random.nextInt(600);
                if (random.nextInt(100) == 0) {
                    backup.room = random.nextInt(3);
                    publisher.publish();
                } else if (random.nextBoolean()) {
                    add(number, 1 + random.nextInt(9));
                } else {
                    remove(number);
                }
            }
            backup.room = Integer.MAX_VALUE;
            publisher.publish();
            assertThat(backup.crashDisconnects.takeAll())
                    .as("seed %d", seed)
                    .containsExactlyInAnyOrderElementsOf(live.values());
        }
    }
}
