package io.rdma4j.sockets.options;

import io.rdma4j.sockets.options.AddressRules.PortRange;
import io.rdma4j.sockets.options.AddressRules.Rule;
import io.rdma4j.sockets.options.AddressRules.Transport;
import java.net.InetAddress;
import java.util.regex.Pattern;

/** Parses a rule of {@link AddressRules}. The exceptions name the wrong part and the allowed values. */
final class RuleParser {
    /** A host name. Its last label has a letter, an underscore or a hyphen; digits alone are a malformed address. */
    private static final Pattern NAME = Pattern.compile("(\\*\\.)?([\\w-]+\\.)*[\\w-]*[a-zA-Z_-][\\w-]*");

    private final String text;

    private RuleParser(String text) {
        this.text = text;
    }

    static Rule parse(String text) {
        return new RuleParser(text).rule();
    }

    private Rule rule() {
        int equals = text.lastIndexOf('=');
        if (equals < 0) {
            throw wrong(
                    "'=' is missing", "HOSTS=TRANSPORT or HOSTS:PORTS=TRANSPORT, as in 10.1.0.0/16=rdma or *:5432=tcp");
        }
        String destination = text.substring(0, equals).strip();
        Transport transport = transport(text.substring(equals + 1).strip());
        int colon = portColon(destination);
        return colon < 0
                ? new Rule(hosts(destination), PortRange.ALL, transport)
                : new Rule(hosts(destination.substring(0, colon)), ports(destination.substring(colon + 1)), transport);
    }

    private Transport transport(String name) {
        return switch (name) {
            case "rdma" -> Transport.RDMA;
            case "tcp" -> Transport.TCP;
            case "either" -> Transport.EITHER;
            default -> throw wrong("'" + name + "' is not a transport", "rdma, tcp and either");
        };
    }

    /** Returns the index of the colon before the ports, or -1. Without brackets, colons belong to an IPv6 address. */
    private int portColon(String destination) {
        if (destination.startsWith("[")) {
            int end = destination.indexOf(']');
            if (end < 0) {
                throw wrong(
                        "']' is missing in '" + destination + "'",
                        "an IPv6 network in brackets, as in [fd00::/8]:9000");
            }
            if (end == destination.length() - 1) {
                return -1;
            }
            if (destination.charAt(end + 1) != ':') {
                throw wrong(
                        "'" + destination.substring(end + 1) + "' after the brackets",
                        "a colon and ports, as in [fd00::/8]:9000");
            }
            return end + 1;
        }
        int colon = destination.indexOf(':');
        return colon == destination.lastIndexOf(':') ? colon : -1;
    }

    private PortRange ports(String ports) {
        int hyphen = ports.indexOf('-');
        int first = port(hyphen < 0 ? ports : ports.substring(0, hyphen), ports);
        int last = hyphen < 0 ? first : port(ports.substring(hyphen + 1), ports);
        if (first > last) {
            throw wrong("'" + ports + "' is not a range of ports", "a range with the lower port first");
        }
        return new PortRange(first, last);
    }

    private int port(String port, String ports) {
        try {
            int number = Integer.parseInt(port);
            if (number >= 1 && number <= PortRange.MAX_PORT) {
                return number;
            }
        } catch (NumberFormatException notNumeric) {
            // refused below
        }
        throw wrong("'" + ports + "' is not a port", "a port of 1 to 65535, or a range, as in 9000-9099");
    }

    private HostPattern hosts(String hosts) {
        if (hosts.equals("*")) {
            return HostPattern.ANY;
        }
        String inner = hosts.startsWith("[") ? hosts.substring(1, hosts.length() - 1) : hosts;
        if (!inner.contains("/") && !inner.contains(":") && NAME.matcher(inner).matches()) {
            return new HostPattern.Name(inner);
        }
        int slash = inner.indexOf('/');
        InetAddress address = literal(slash < 0 ? inner : inner.substring(0, slash));
        return slash < 0
                ? new HostPattern.Network(address, HostPattern.Network.maxPrefixBits(address))
                : network(address, inner.substring(slash + 1));
    }

    private InetAddress literal(String address) {
        try {
            return InetAddress.ofLiteral(address);
        } catch (IllegalArgumentException notNumeric) {
            throw wrong(
                    "'" + address + "' is neither an address nor a host name",
                    "*, an address, a network such as 10.1.0.0/16, a host name such as db.example.com, and *.example.com");
        }
    }

    private HostPattern network(InetAddress address, String bits) {
        int most = HostPattern.Network.maxPrefixBits(address);
        try {
            int prefix = Integer.parseInt(bits);
            if (prefix >= 0 && prefix <= most) {
                return prefix == 0 ? HostPattern.ANY : new HostPattern.Network(address, prefix);
            }
        } catch (NumberFormatException notNumeric) {
            // refused below
        }
        throw wrong("'" + bits + "' is not a prefix length of " + address.getHostAddress(), "0 to " + most);
    }

    private IllegalArgumentException wrong(String part, String allowed) {
        return new IllegalArgumentException("Rule '" + text + "' of RDMA sockets: " + part + "; allowed: " + allowed);
    }
}
