package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EphemeralPortsTest {
    private static final EphemeralPorts.Range IANA = new EphemeralPorts.Range(49152, 65535);

    @TempDir
    Path directory;

    private Path setting = Path.of("");
    private long now = Long.MAX_VALUE - 1;

    @BeforeEach
    void setting() {
        setting = directory.resolve("range");
    }

    private void set(String text) throws IOException {
        Files.writeString(setting, text);
    }

    private EphemeralPorts ports() {
        return new EphemeralPorts(setting, () -> now);
    }

    @Test
    void rangeFollowsTheSetting() throws IOException {
        set("32768\t60999\n");
        assertThat(ports().range()).isEqualTo(new EphemeralPorts.Range(32768, 60999));
    }

    @Test
    void withoutAUsableSettingTheRangeIsIanas() throws IOException {
        assertThat(ports().range()).isEqualTo(IANA);
        for (String text : new String[] {"", "5", "2 1", "a b", "0 9"}) {
            set(text);
            assertThat(ports().range()).as(text).isEqualTo(IANA);
        }
    }

    @Test
    void changedSettingIsReadAfterASecondAndNotBefore() throws IOException {
        set("1000 2000");
        EphemeralPorts ports = ports();
        EphemeralPorts.Range before = ports.range();
        set("3000 4000");
        now += EphemeralPorts.CACHE_NANOS - 1;
        assertThat(ports.range()).isEqualTo(before);
        now++;
        assertThat(ports.range()).isEqualTo(new EphemeralPorts.Range(3000, 4000));
    }
}
