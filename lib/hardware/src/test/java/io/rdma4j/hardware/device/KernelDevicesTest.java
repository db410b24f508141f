package io.rdma4j.hardware.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a device that this process cannot use is listed, with the reason. */
class KernelDevicesTest {
    /** Loads the test library: a process keeps the first libibverbs that it loads. */
    @BeforeAll
    static void load() {
        TestDriver.loaded();
    }

    @TempDir
    private Path folder;

    private Path file(String name, String content) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, content + "\n");
    }

    private KernelDevice only(List<HardwareDevice> library) {
        List<KernelDevice> found =
                new KernelDevices(folder.resolve("class"), folder.resolve("dev"), () -> library).list();
        assertThat(found).hasSize(1);
        return found.getFirst();
    }

    @Test
    void aDeviceWithoutADriverOfTheLibraryIsKnownAndHasTheReason() throws IOException {
        file("class/infiniband/card0/node_type", "1: CA");
        KernelDevice card = only(List.of());
        assertThat(card.name()).isEqualTo("card0");
        assertThat(card.isIwarp()).isFalse();
        assertThat(card.problem()).isNotEmpty();
    }

    @Test
    void anIwarpDeviceIsRecognized() throws IOException {
        file("class/infiniband/siw0/node_type", "4: RNIC");
        assertThat(only(List.of()).isIwarp()).isTrue();
    }

    @Test
    void aDeviceIsUsableOnceItsFilesCanBeWritten() throws IOException {
        HardwareDevice device = TestDriver.loaded().device();
        file("class/infiniband/" + device.name() + "/node_type", "1: CA");
        assertThat(only(List.of(device)).problem()).contains("load the module ib_uverbs");
        file("class/infiniband_verbs/uverbs0/ibdev", device.name());
        file("class/infiniband_verbs/abi_version", "6");
        file("dev/uverbs0", "");
        assertThat(only(List.of(device)).problem()).contains("rdma_cm does not exist");
        file("dev/rdma_cm", "");
        assertThat(only(List.of(device)).problem()).isEmpty();
        assertThat(only(List.of(device)).device()).isSameAs(device);
    }

    @Test
    void aFileWithoutWritePermissionIsNamed() throws IOException {
        assumeTrue(!System.getProperty("user.name").equals("root"), "root may write all files");
        HardwareDevice device = TestDriver.loaded().device();
        file("class/infiniband/" + device.name() + "/node_type", "1: CA");
        file("class/infiniband_verbs/uverbs0/ibdev", device.name());
        Path verbs = file("dev/uverbs0", "");
        file("dev/rdma_cm", "");
        assertThat(verbs.toFile().setWritable(false)).isTrue();
        assertThat(only(List.of(device)).problem()).contains(verbs + " cannot be written");
    }
}
