package io.rdma4j.hardware.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that GID tables are read when they may have changed, and not for each address. */
class GidTablesTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("2001:db8::7");

    @TempDir
    private Path folder;

    private KernelDevice device;
    private GidTables tables;
    private int readings;
    private long nowNanos;
    private long readingNanos;

    @BeforeEach
    void create() throws IOException {
        device = new KernelDevice("card0", false, null, folder, null);
        Files.createDirectories(entry(0).getParent());
        Files.writeString(entry(0), Gid.ZERO + "\n");
        set(3, ADDRESS);
        tables = new GidTables(folder, this::devices, () -> nowNanos);
    }

    private Path entry(int index) {
        return folder.resolve(device.name() + "/ports/1/gids/" + index);
    }

    private void set(int index, InetAddress address) throws IOException {
        Files.writeString(entry(index), Gid.of(address) + "\n");
    }

    private List<KernelDevice> devices() {
        readings++;
        nowNanos += readingNanos;
        return List.of(device);
    }

    @Test
    void aKnownAddressIsFoundWithoutReadingTheTablesAgain() {
        assertThat(tables.deviceOf(ADDRESS)).contains(device);
        nowNanos += TimeUnit.HOURS.toNanos(1);
        assertThat(tables.deviceOf(ADDRESS)).contains(device);
        assertThat(readings).isEqualTo(1);
    }

    @Test
    void anAddressThatMovesIsFound() throws IOException {
        assertThat(tables.deviceOf(ADDRESS)).contains(device);
        set(3, OTHER);
        assertThat(tables.deviceOf(ADDRESS)).isEmpty();
        set(4, ADDRESS);
        nowNanos += GidTables.MISS_NANOS;
        assertThat(tables.deviceOf(ADDRESS)).contains(device);
        assertThat(tables.deviceOf(OTHER)).contains(device);
        assertThat(readings).isEqualTo(3);
    }

    @Test
    void aNewDeviceOfTheSameNameHasAnotherFile() throws IOException {
        assertThat(tables.deviceOf(ADDRESS)).contains(device);
        Files.move(entry(3), folder.resolve("old"));
        set(3, ADDRESS);
        assertThat(tables.deviceOf(ADDRESS)).contains(device);
        assertThat(readings).isEqualTo(2);
    }

    @Test
    void anUnknownAddressIsSearchedAtMostTwentyTimesASecond() throws IOException {
        assertThat(tables.deviceOf(OTHER)).isEmpty();
        set(1, OTHER);
        nowNanos += GidTables.MISS_NANOS - 1;
        assertThat(tables.deviceOf(OTHER)).isEmpty();
        nowNanos++;
        assertThat(tables.deviceOf(OTHER)).contains(device);
    }

    @Test
    void slowReadingsTakeAtMostATenthOfTheTime() {
        readingNanos = GidTables.MISS_NANOS;
        assertThat(tables.deviceOf(OTHER)).isEmpty();
        nowNanos += 9 * GidTables.MISS_NANOS;
        assertThat(tables.deviceOf(OTHER)).isEmpty();
        assertThat(readings).isEqualTo(1);
        nowNanos += GidTables.MISS_NANOS;
        assertThat(tables.deviceOf(OTHER)).isEmpty();
        assertThat(readings).isEqualTo(2);
    }
}
