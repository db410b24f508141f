package io.rdma4j.hardware.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.AddressVector;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Reads events from the structures of a C compiler. */
class KernelEventTest {
    private static KernelEvent event(String name) {
        return KernelEvent.copyOf(MemorySegment.ofArray(CBytes.of(name)));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void requestHasParametersAndOptions() {
        KernelEvent request = event("event.request");
        assertThat(request.uid()).isEqualTo(0x1122334455667788L);
        assertThat(request.id()).isEqualTo(78);
        assertThat(request.type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
        assertThat(request.status()).isZero();
        assertThat(request.connection())
                .isEqualTo(new ConnectionParameters(bytes("abc"), 5, 6, true, 7, 4, true, 0x123456));
        assertThat(request.enhancement()).isEqualTo(new ConnectionEnhancement(0xabcdef, 7));
    }

    @Test
    void serviceHasAPath() {
        KernelEvent service = event("event.service");
        AddressVector path =
                new AddressVector(3, Gid.of(InetAddress.ofLiteral("192.0.2.9")), 0, 0x12345, 64, 32, 1, 5, 2);
        assertThat(service.type()).isEqualTo(CmEvent.Type.ESTABLISHED);
        assertThat(service.datagram(false))
                .isEqualTo(new DatagramParameters(bytes("hello"), path, 0x654321, 0x01234567));
        assertThat(service.datagram(true).privateData()).isEmpty();
    }

    @Test
    void statusHasASign() {
        assertThat(event("event.rejected").status()).isEqualTo(28);
        assertThat(event("event.unreachable").status()).isEqualTo(-110);
    }

    @Test
    void typeOfANewerKernelIsUnknown() {
        byte[] bytes = new byte[CmStructures.Event.BYTES];
        bytes[CmStructures.Event.TYPE] = 99;
        assertThat(KernelEvent.copyOf(MemorySegment.ofArray(bytes)).type()).isNull();
    }
}
