package io.rdma4j.wire.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Golden bytes: the first buffer in the private data of the request, capture rstream #1. */
class BufferDescriptorTest extends HeaderLaws<BufferDescriptor> {
    @Override
    protected String golden() {
        return "00007fcb48fb8000 00001069 00080000";
    }

    @Override
    protected BufferDescriptor header() {
        return new BufferDescriptor(0x7fcb_48fb_8000L, 0x1069, 0x8_0000);
    }

    @Override
    protected int length() {
        return BufferDescriptor.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected BufferDescriptor parse(MemorySegment s, long at) {
        return BufferDescriptor.read(s.asByteBuffer(), (int) at);
    }

    @Override
    protected void emit(BufferDescriptor header, MemorySegment s, long at) {
        header.write(s.asByteBuffer(), (int) at);
    }

    /** Capture rstream #4: the client on x86 offers its second half. */
    @Test
    void aTableHasTheByteOrderOfItsOwner() {
        byte[] captured = HexFormat.of().parseHex("00800349cb7f00006910000000000800");
        ByteBuffer table = ByteBuffer.wrap(captured).order(ByteOrder.LITTLE_ENDIAN);
        BufferDescriptor offered = BufferDescriptor.read(table, 0);
        assertThat(offered).isEqualTo(new BufferDescriptor(0x7fcb_4903_8000L, 0x1069, 0x8_0000));
        ByteBuffer written = ByteBuffer.allocate(BufferDescriptor.LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        offered.write(written, 0);
        assertThat(written.array()).isEqualTo(captured);
    }

    @Test
    void thePositionDoesNotChange() {
        ByteBuffer buffer = ByteBuffer.allocate(40).position(3);
        header().write(buffer, 20);
        assertThat(BufferDescriptor.read(buffer, 20)).isEqualTo(header());
        assertThat(buffer.position()).isEqualTo(3);
    }
}
