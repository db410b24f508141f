package io.rdma4j.link.decorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@link LinkOptions#sharesMemory} and {@link LinkOptions#captureFile}. */
class LinkOptionsTest {
    @ParameterizedTest
    @CsvSource({
        ", , true",
        "on, , true",
        "off, , false",
        ", on, true",
        ", off, false",
        "on, off, true",
        "off, on, false"
    })
    void propertyDecidesBeforeTheEnvironmentVariable(String property, String variable, boolean sharesMemory) {
        assertThat(LinkOptions.sharesMemory(property, variable)).isEqualTo(sharesMemory);
    }

    @Test
    void anotherValueIsRefusedWithItsOrigin() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LinkOptions.sharesMemory("no", "off"))
                .withMessage("system property rdma4j.shared-memory: \"no\" is neither on nor off");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LinkOptions.sharesMemory(null, "no"))
                .withMessage("environment variable RDMA4J_SHARED_MEMORY: \"no\" is neither on nor off");
    }

    @Test
    void nameOfTheCaptureMayHaveTheNumberOfTheProcess() {
        long pid = ProcessHandle.current().pid();
        assertThat(LinkOptions.captureFile("/a/%p-%p.pcapng")).isEqualTo(Path.of("/a/" + pid + "-" + pid + ".pcapng"));
        assertThat(LinkOptions.captureFile("100%.pcapng")).isEqualTo(Path.of("100%.pcapng"));
    }
}
