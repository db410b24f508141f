package io.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Compares source ports with the results of libibverbs's function. */
class AddressVectorSourcePortTest {
    @Test
    void sourcePortEqualsTheResultOfLibibverbs() {
        assertThat(AddressVector.udpSourcePort(0)).isEqualTo(0xc000);
        assertThat(AddressVector.udpSourcePort(1)).isEqualTo(0xc001);
        assertThat(AddressVector.udpSourcePort(0x3fff)).isEqualTo(0xffff);
        assertThat(AddressVector.udpSourcePort(0x4000)).isEqualTo(0xc001);
        assertThat(AddressVector.udpSourcePort(0x5_4321)).isEqualTo(0xc000 | 0x0321 ^ 0x15);
        assertThat(AddressVector.udpSourcePort(0xf_ffff)).isEqualTo(0xc000 | 0x3fff ^ 0x3f);
        assertThat(AddressVector.udpSourcePort(0xfff0_0000)).isEqualTo(0xc000);
    }
}
