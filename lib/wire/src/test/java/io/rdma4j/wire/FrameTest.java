package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FrameTest {
    @Test
    void addressFamilyFollowsTheDestination() {
        Frame frame = Captures.frame("rping", 4).frame();
        assertThat(frame.isIpv4()).isTrue();
        assertThat(frame.sourceLow).isEqualTo(0xffff_0a58_0001L);
        frame.destinationHigh = 1;
        assertThat(frame.isIpv4()).isFalse();
        assertThat(Captures.frame("rping6", 3).frame().isIpv4()).isFalse();
    }

    @Test
    void setCopiesAllFields() {
        Frame from = Captures.frame("rping6", 3).frame();
        Frame to = new Frame();
        to.set(from);
        assertThat(to).usingRecursiveComparison().isEqualTo(from);
        assertThat(to.segment).isSameAs(from.segment);
        assertThat(to.buffer).isSameAs(from.buffer);
    }

    @Test
    void anEmptyFrameHasTheRocePort() {
        assertThat(new Frame().destinationPort).isEqualTo(4791);
        assertThat(new Packet().parse(new Frame())).isEqualTo(Packet.Result.TOO_SHORT);
        assertThat(new Icrc().verify(new Frame())).isFalse();
    }
}
