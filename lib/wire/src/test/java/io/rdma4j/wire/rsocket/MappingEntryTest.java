package io.rdma4j.wire.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** Golden bytes: the entry that the client writes into the server's table, capture riostream #6; it is little-endian. */
class MappingEntryTest extends HeaderLaws<MappingEntry> {
    @Override
    protected String golden() {
        return "0000000000000000 1098aecc25560000 2a1b0000 b80b0000";
    }

    @Override
    protected MappingEntry header() {
        return new MappingEntry(0, new BufferDescriptor(0x5625_ccae_9810L, 0x1b2a, 3000));
    }

    @Override
    protected int length() {
        return MappingEntry.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected MappingEntry parse(MemorySegment s, long at) {
        return MappingEntry.read(s.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN), (int) at);
    }

    @Override
    protected void emit(MappingEntry header, MemorySegment s, long at) {
        header.write(s.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN), (int) at);
    }

    @Test
    void theOffsetComesFirst() {
        ByteBuffer buffer = ByteBuffer.allocate(MappingEntry.LENGTH);
        new MappingEntry(-2, new BufferDescriptor(3, 4, 5)).write(buffer, 0);
        assertThat(buffer.getLong(0)).isEqualTo(-2);
        assertThat(BufferDescriptor.read(buffer, 8)).isEqualTo(new BufferDescriptor(3, 4, 5));
        assertThat(buffer.position()).isZero();
    }
}
