package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmRoute;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another process finds the established connections, and no others. */
class CrashDisconnectTableTest {
    private static final int SLOT = 7;

    @TempDir
    Path folder = Path.of("");

    private static AbandonedConnection connection(int slot, int number, int remoteId) {
        CmRoute route = new CmRoute(
                Gid.of(InetAddress.ofLiteral("192.0.2.1")), Gid.of(InetAddress.ofLiteral("fe80::1:2")), number % 3);
        return new AbandonedConnection(route, number & 0xff, slot << 24 | number, 5, remoteId, 0xff_fffe);
    }

    private static List<AbandonedConnection> left(RunDirectory directory, int slot) {
        return CrashDisconnectReader.open(directory, slot).take(_ -> true);
    }

    private static void addAndRemove(RunDirectory directory, int most) {
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            CrashDisconnectTable table = CrashDisconnectTable.create(directory, SLOT);
            Map<Integer, AbandonedConnection> live = new LinkedHashMap<>();
            for (int step = 0; step < 2_000; step++) {
                AbandonedConnection connection = connection(SLOT, 1 + random.nextInt(most), 1 + random.nextInt(9));
                if (random.nextBoolean()) {
                    table.add(connection);
                    live.put(connection.localId(), connection);
                } else {
                    table.remove(connection.localId());
                    live.remove(connection.localId());
                }
            }
            assertThat(left(directory, SLOT)).as("seed %d", seed).containsExactlyInAnyOrderElementsOf(live.values());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 600})
    void anotherProcessFindsTheEstablishedConnections(int most) throws Exception {
        addAndRemove(RunDirectory.at(folder.resolve("run")), most);
    }

    @Test
    void anotherStackOfAVirtualHostFindsThem() {
        addAndRemove(RunDirectory.ofVirtualHost("host"), 60);
    }

    @Test
    void tableHoldsAsManyConnectionsAsAProcessHasQueuePairs() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        CrashDisconnectTable table = CrashDisconnectTable.create(directory, SLOT);
        for (int number = 1; number <= CrashDisconnectFormat.MAX_RECORDS + 10; number++) {
            table.add(connection(SLOT, number, 1));
        }
        assertThat(left(directory, SLOT)).hasSize(CrashDisconnectFormat.MAX_RECORDS);
    }

    @Test
    void eachConnectionIsTakenOnce() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        CrashDisconnectTable table = CrashDisconnectTable.create(directory, SLOT);
        List<AbandonedConnection> all = new ArrayList<>();
        for (int number = 1; number <= 100; number++) {
            all.add(connection(SLOT, number, 1));
            table.add(connection(SLOT, number, 1));
        }
        CrashDisconnectReader one = CrashDisconnectReader.open(directory, SLOT);
        CrashDisconnectReader other = CrashDisconnectReader.open(directory, SLOT);
        List<AbandonedConnection> taken = new ArrayList<>(one.take(each -> each.localId() % 2 == 0));
        assertThat(taken).hasSize(50);
        assertThat(one.isAnyLeft()).isTrue();
        taken.addAll(other.take(_ -> true));
        assertThat(taken).containsExactlyInAnyOrderElementsOf(all);
        assertThat(one.isAnyLeft()).isFalse();
        assertThat(one.take(_ -> true)).isEmpty();
    }

    @Test
    void connectionsOfOtherSlotsAreIgnored() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        CrashDisconnectTable table = CrashDisconnectTable.create(directory, SLOT);
        table.add(connection(SLOT + 1, 1, 1));
        assertThat(left(directory, SLOT)).isEmpty();
    }

    @Test
    void fileThatIsNotATableHasNoConnections() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        Path file = directory.file(CrashDisconnectFormat.fileName(SLOT));
        assertThat(left(directory, SLOT)).isEmpty();
        Files.write(file, new byte[100]);
        assertThat(left(directory, SLOT)).isEmpty();
        Files.write(file, new byte[(int) CrashDisconnectFormat.FILE_BYTES]);
        assertThat(left(directory, SLOT)).isEmpty();
    }

    @Test
    void withoutAFileTheConnectionsAreNotKept() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        Path obstacle = Files.createDirectories(
                directory.file(CrashDisconnectFormat.fileName(SLOT)).resolve("obstacle"));
        CrashDisconnectTable table = CrashDisconnectTable.create(directory, SLOT);
        table.add(connection(SLOT, 1, 1));
        table.remove(connection(SLOT, 1, 1).localId());
        assertThat(table.path()).isNull();
        table.close();
        assertThat(obstacle).exists();
    }

    @Test
    void fileIsRemovedAtTheEndUnlessConnectionsAreLeft() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        CrashDisconnectTable table = CrashDisconnectTable.create(directory, SLOT);
        table.add(connection(SLOT, 1, 1));
        table.close();
        assertThat(table.path()).isNotNull().exists();
        table.remove(connection(SLOT, 1, 1).localId());
        table.close();
        assertThat(table.path()).doesNotExist();
    }

    @Test
    void tableThatAnotherProcessHasRemovedKeepsTheFirstConnections() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        CrashDisconnectTable table = CrashDisconnectTable.create(directory, SLOT);
        CrashDisconnectReader reader = CrashDisconnectReader.open(directory, SLOT);
        Files.delete(directory.file(CrashDisconnectFormat.fileName(SLOT)));
        for (int number = 1; number <= 100; number++) {
            table.add(connection(SLOT, number, 1));
        }
        assertThat(reader.take(_ -> true)).hasSize(CrashDisconnectFormat.FIRST_RECORDS);
    }
}
