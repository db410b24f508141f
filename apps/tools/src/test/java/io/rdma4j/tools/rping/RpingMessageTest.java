package io.rdma4j.tools.rping;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class RpingMessageTest {
    /** The payload of the first SEND in a capture of C's rping over Linux's rxe. */
    private static final byte[] CAPTURED = HexFormat.of().parseHex("000056368b92b5f00000056900000040");

    @Test
    void capturedMessageIsParsed() {
        RpingMessage message = RpingMessage.read(MemorySegment.ofArray(CAPTURED));
        assertThat(message).isEqualTo(new RpingMessage(0x56368b92b5f0L, 0x569, 64));
    }

    @Test
    void parsedMessageIsWrittenToTheSameBytes() {
        byte[] written = new byte[RpingMessage.BYTES];
        RpingMessage.read(MemorySegment.ofArray(CAPTURED)).write(MemorySegment.ofArray(written));
        assertThat(written).isEqualTo(CAPTURED);
    }
}
