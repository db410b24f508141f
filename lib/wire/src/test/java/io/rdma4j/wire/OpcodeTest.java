package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Checks the opcode table against a second one, written from table 38 of the specification and the behaviour of Linux.
 */
class OpcodeTest {
    /**
     * Operation code in bits 4:0, operation, transports, extension headers, direction, part of the message, effect on
     * receives.
     */
    private static final String TABLE = """
        00 SEND_FIRST             RC,UC,XRC -                 request  first
        01 SEND_MIDDLE            RC,UC,XRC -                 request  middle
        02 SEND_LAST              RC,UC,XRC -                 request  last    completes
        03 SEND_LAST_IMMEDIATE    RC,UC,XRC Imm               request  last    completes
        04 SEND_ONLY              RC,UC,XRC -                 request  only    completes
        05 SEND_ONLY_IMMEDIATE    RC,UC,XRC Imm               request  only    completes
        06 WRITE_FIRST            RC,UC,XRC RETH              request  first
        07 WRITE_MIDDLE           RC,UC,XRC -                 request  middle
        08 WRITE_LAST             RC,UC,XRC -                 request  last
        09 WRITE_LAST_IMMEDIATE   RC,UC,XRC Imm               request  last    completes
        0A WRITE_ONLY             RC,UC,XRC RETH              request  only
        0B WRITE_ONLY_IMMEDIATE   RC,UC,XRC RETH+Imm          request  only    completes
        0C READ_REQUEST           RC,XRC    RETH              request  only
        0D READ_RESPONSE_FIRST    RC,XRC    AETH              response first
        0E READ_RESPONSE_MIDDLE   RC,XRC    -                 response middle
        0F READ_RESPONSE_LAST     RC,XRC    AETH              response last
        10 READ_RESPONSE_ONLY     RC,XRC    AETH              response only
        11 ACKNOWLEDGE            RC,XRC    AETH              response only
        12 ATOMIC_ACKNOWLEDGE     RC,XRC    AETH+AtomicAckETH response only
        13 COMPARE_SWAP           RC,XRC    AtomicETH         request  only
        14 FETCH_ADD              RC,XRC    AtomicETH         request  only
        16 SEND_LAST_INVALIDATE   RC,XRC    IETH              request  last    completes
        17 SEND_ONLY_INVALIDATE   RC,XRC    IETH              request  only    completes
        1C FLUSH                  RC,XRC    FETH+RETH         request  only
        1D ATOMIC_WRITE           RC,XRC    RETH              request  only
        04 SEND_ONLY              UD    DETH              request  only    completes
        05 SEND_ONLY_IMMEDIATE    UD    DETH+Imm          request  only    completes
        """;

    @Test
    void everyRowAgreesWithTheSpecification() {
        Set<Integer> known = new HashSet<>();
        for (String line : TABLE.lines().toList()) {
            List<String> row = List.of(line.trim().split(" +", -1));
            for (String transport : row.get(2).split(",", -1)) {
                int code = Integer.parseInt(row.get(0), 16) | prefix(transport);
                known.add(code);
                Opcode opcode = Objects.requireNonNull(Opcode.of(code), line);
                assertThat(describe(opcode)).isEqualTo(expected(row, transport));
                assertThat(opcode.code()).isEqualTo(code);
                assertThat(opcode.headerLength())
                        .as(line)
                        .isEqualTo(12 + (opcode.hasXrcEth() ? 4 : 0) + headerLength(row.get(3)));
                assertThat(opcode.hasXrcEth())
                        .as(line)
                        .isEqualTo(transport.equals("XRC") && row.get(4).equals("request"));
                assertThat(opcode.extended().code()).isEqualTo(transport.equals("RC") ? code | 0xa0 : code);
                assertThat(opcode.connected().code()).isEqualTo(transport.equals("XRC") ? code & 0x1f : code);
            }
        }
        known.add(Opcode.CONGESTION_NOTIFICATION.code());
        for (int code = 0; code < 256; code++) {
            assertThat(Opcode.of(code) != null).as("%02x", code).isEqualTo(known.contains(code));
        }
        assertThat(Opcode.values()).hasSize(known.size());
    }

    @Test
    void predicatesAgreeWithTheName() {
        for (Opcode opcode : Opcode.values()) {
            String name = opcode.name();
            assertThat(opcode.isSend()).as(name).isEqualTo(name.contains("_SEND_"));
            assertThat(opcode.isWrite()).as(name).isEqualTo(name.contains("_WRITE_"));
            assertThat(opcode.isRead()).as(name).isEqualTo(name.contains("_READ_"));
            assertThat(opcode.isAtomic())
                    .as(name)
                    .isEqualTo(name.contains("ATOMIC_ACK") || name.contains("COMPARE") || name.contains("FETCH"));
            assertThat(opcode.isFlush()).as(name).isEqualTo(name.endsWith("_FLUSH"));
            assertThat(opcode.isAtomicWrite()).as(name).isEqualTo(name.endsWith("_ATOMIC_WRITE"));
            boolean isRequest = opcode.isRequest() && (opcode.isRead() || opcode.isAtomic());
            assertThat(opcode.needsResponse())
                    .as(name)
                    .isEqualTo(isRequest || opcode.isFlush() || opcode.isAtomicWrite());
        }
    }

    @Test
    void congestionNotificationIsNeitherRequestNorResponse() {
        Opcode opcode = Opcode.CONGESTION_NOTIFICATION;
        assertThat(opcode.code()).isEqualTo(0x81);
        assertThat(opcode.transport()).isEqualTo(Opcode.Transport.CNP);
        assertThat(opcode.headerLength()).isEqualTo(12);
        assertThat(opcode.isRequest() || opcode.isResponse()).isFalse();
    }

    private static int prefix(String transport) {
        return switch (transport) {
            case "RC" -> 0x00;
            case "UC" -> 0x20;
            case "XRC" -> 0xa0;
            default -> 0x60;
        };
    }

    private static int headerLength(String headers) {
        int length = 0;
        for (String header : headers.split("\\+", -1)) {
            length += switch (header) {
                case "-" -> 0;
                case "RETH" -> 16;
                case "AtomicETH" -> 28;
                case "AETH", "Imm", "IETH", "FETH" -> 4;
                case "AtomicAckETH", "DETH" -> 8;
                default -> throw new IllegalArgumentException(header);
            };
        }
        return length;
    }

    private static String expected(List<String> row, String transport) {
        return String.join(
                " ",
                transport + "_" + row.get(1),
                transport,
                row.get(3),
                row.get(4),
                row.get(5),
                row.size() > 6 ? row.get(6) : "");
    }

    private static String describe(Opcode opcode) {
        List<String> headers = new ArrayList<>();
        add(headers, opcode.hasDeth(), "DETH");
        add(headers, opcode.isFlush(), "FETH");
        add(headers, opcode.hasReth(), "RETH");
        add(headers, opcode.hasAtomicEth(), "AtomicETH");
        add(headers, opcode.hasAeth(), "AETH");
        add(headers, opcode.hasAtomicAckEth(), "AtomicAckETH");
        add(headers, opcode.hasImmediate(), "Imm");
        add(headers, opcode.hasIeth(), "IETH");
        List<String> part = new ArrayList<>();
        add(part, opcode.isFirst() && !opcode.isLast(), "first");
        add(part, opcode.isMiddle(), "middle");
        add(part, opcode.isLast() && !opcode.isFirst(), "last");
        add(part, opcode.isFirst() && opcode.isLast(), "only");
        List<String> direction = new ArrayList<>();
        add(direction, opcode.isRequest(), "request");
        add(direction, opcode.isResponse(), "response");
        return String.join(
                " ",
                opcode.name(),
                opcode.transport().name(),
                headers.isEmpty() ? "-" : String.join("+", headers),
                String.join("+", direction),
                String.join("+", part),
                opcode.completesReceive() ? "completes" : "");
    }

    private static void add(List<String> to, boolean condition, String word) {
        if (condition) {
            to.add(word);
        }
    }
}
