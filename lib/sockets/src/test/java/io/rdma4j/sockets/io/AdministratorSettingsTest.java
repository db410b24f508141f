package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.stream.StreamSizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdministratorSettingsTest {
    @TempDir
    private Path folder;

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    private StreamSizes sizes(Map<String, String> properties) {
        return DefaultSizes.sizes(new AdministratorSettings(folder), properties::get);
    }

    @Test
    void withoutFilesTheDefaultsApply() {
        assertThat(sizes(Map.of())).isEqualTo(StreamSizes.DEFAULT);
    }

    @Test
    void eachFileSetsItsSize() throws IOException {
        write("sqsize_default", "100\n");
        write("rqsize_default", "200\n");
        write("wmem_default", "300000\n");
        write("mem_default", "400000\n");
        write("inline_default", "16\n");
        write("iomap_size", "8\n");
        assertThat(sizes(Map.of())).isEqualTo(new StreamSizes(100, 200, 300_000, 400_000, 16, 8));
    }

    @Test
    void propertiesPrecedeFiles() throws IOException {
        write("sqsize_default", "100\n");
        write("mem_default", "400000\n");
        StreamSizes sizes = sizes(Map.of(
                "rdma4j.sockets.sendQueueEntries", "50",
                "rdma4j.sockets.receiveQueueEntries", "60",
                "rdma4j.sockets.receiveBufferBytes", "500000",
                "rdma4j.sockets.inlineBytes", "0",
                "rdma4j.sockets.mappingEntries", "4"));
        assertThat(sizes).isEqualTo(new StreamSizes(50, 60, 131_072, 500_000, 0, 4));
    }

    @ParameterizedTest
    @CsvSource({"5, 16", "70000, 65534", "99999999999999, 65534", "' 100 bytes', 100", "-5, 384", "x, 384", "'', 384"})
    void aNumberIsLimitedAndAnotherTextIsIgnored(String text, int queue) throws IOException {
        write("sqsize_default", text);
        assertThat(sizes(Map.of()).sendQueue()).isEqualTo(queue);
    }

    @Test
    void aFolderInsteadOfAFileIsIgnored() throws IOException {
        Files.createDirectory(folder.resolve("sqsize_default"));
        assertThat(sizes(Map.of())).isEqualTo(StreamSizes.DEFAULT);
    }
}
