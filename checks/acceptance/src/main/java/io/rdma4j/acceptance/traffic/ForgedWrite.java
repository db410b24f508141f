package io.rdma4j.acceptance.traffic;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.HexFormat;

/** A forged RDMA WRITE of eight bytes: everything except the sender is correct. */
public final class ForgedWrite {
    /**
     * A Perl script that sends one packet many times, so another user can run it without this project. Its arguments
     * are the IPv4 address that is both source and destination, the source UDP port, the number of packets, and the
     * packet in hexadecimal digits.
     */
    public static final String SENDER = """
            my ($host, $port, $count, $hex) = @ARGV;
            socket(my $socket, AF_INET, SOCK_DGRAM, 17) or die "socket: $!";
            bind($socket, pack_sockaddr_in($port, inet_aton($host))) or die "bind: $!";
            my ($data, $to) = (pack("H*", $hex), pack_sockaddr_in(4791, inet_aton($host)));
            for (1 .. $count) { send($socket, $data, 0, $to); select(undef, undef, undef, 0.001) if $_ % 200 == 0; }
            """;

    private ForgedWrite() {}

    /**
     * Returns the packet with a correct ICRC, in hexadecimal digits.
     *
     * @param host source and destination IPv4 address
     * @param udpPort source UDP port
     * @param queuePair queue pair of the victim
     * @param psn expected PSN
     * @param remoteAddress address to write to
     * @param key remote key
     * @param value value to write, in the byte order of this machine
     */
    public static String hex(
            String host, int udpPort, int queuePair, int psn, long remoteAddress, int key, long value) {
        int payloadAt = Bth.LENGTH + Reth.LENGTH;
        byte[] bytes = new byte[payloadAt + Long.BYTES + Icrc.LENGTH];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        Bth.write(memory, 0, Opcode.RC_WRITE_ONLY.code(), false, 0, 0xffff, queuePair, true, psn);
        Reth.write(memory, Bth.LENGTH, remoteAddress, key, Long.BYTES);
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, payloadAt, value);
        InetAddress address = InetAddress.ofLiteral(host);
        new Sealer(address, udpPort, address).seal(bytes, bytes.length);
        return HexFormat.of().formatHex(bytes);
    }
}
