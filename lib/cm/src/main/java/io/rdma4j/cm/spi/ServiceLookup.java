package io.rdma4j.cm.spi;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.AddressLookupException.Reason;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Looks up the ports of services like {@code getaddrinfo}. Source: getaddrinfo(3), services(5). Thread safe.
 *
 * <p>The names are in the system's services file: {@code /etc/services}, on Windows
 * {@code %SystemRoot%\System32\drivers\etc\services}. Each lookup of a name reads the file. Other sources of glibc's
 * name service switch, such as LDAP, are not queried.
 */
public final class ServiceLookup {
    private static final int MAX_PORT = 0xffff;
    private static final String BLANKS = "[ \t]+";

    private ServiceLookup() {}

    /** The protocol of a service. A name may have a port for only one protocol. */
    public enum Protocol {
        /** Services of streams: the port space TCP, and reliable queue pairs. */
        TCP,
        /** Services of datagrams: the port spaces UDP and IPOIB. */
        UDP
    }

    /**
     * Returns the port of a service. Blocks while the services file is read.
     *
     * @param operation the C name of the calling operation, for messages
     * @param service a decimal port number, or the case-sensitive name or alias of a service. An empty text means port
     *     0, like in C
     * @param protocol the protocol of the service; null for either, TCP first
     * @return the port, 0 to 65535
     * @throws AddressLookupException with {@link Reason#SERVICE_UNKNOWN} if the number is not a port, or the name has
     *     no port for this protocol
     */
    public static int port(String operation, String service, @Nullable Protocol protocol) {
        return port(operation, service, protocol, systemFile());
    }

    /** Returns the port of a service, from a specified services file. */
    static int port(String operation, String service, @Nullable Protocol protocol, Path services) {
        if (service.isEmpty()) {
            return 0;
        }
        if (service.matches("[ \t]*[+-]?[0-9]+")) {
            return number(operation, service);
        }
        Protocol[] wanted = protocol == null ? Protocol.values() : new Protocol[] {protocol};
        for (Protocol each : wanted) {
            int port = find(service, each, services);
            if (port >= 0) {
                return port;
            }
        }
        throw unknown(operation, service, services);
    }

    private static int number(String operation, String service) {
        try {
            int port = Integer.parseInt(service.strip());
            if (port >= 0 && port <= MAX_PORT) {
                return port;
            }
        } catch (NumberFormatException tooLong) {
            // The number is too large.
        }
        throw unknown(operation, service, systemFile());
    }

    private static AddressLookupException unknown(String operation, String service, Path services) {
        return new AddressLookupException(
                operation,
                Reason.SERVICE_UNKNOWN,
                "service '" + service + "'",
                "Give a port number, 0 to 65535, or a name that is in " + services + " for the protocol");
    }

    /** Returns the port of a name or alias. Returns -1 if the file does not contain it or cannot be read. */
    private static int find(String name, Protocol protocol, Path services) {
        // The file may be in any encoding that contains ASCII, and names of services are ASCII (RFC 6335).
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(Files.newInputStream(services), StandardCharsets.ISO_8859_1))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int port = portIn(line, name, protocol);
                if (port >= 0) {
                    return port;
                }
            }
        } catch (IOException absent) {
            return -1; // Small containers have no such file. Names are then unknown, like in C.
        }
        return -1;
    }

    /** Returns the port if a line {@code name port/protocol alias...} has the name and protocol, otherwise -1. */
    private static int portIn(String line, String name, Protocol protocol) {
        int comment = line.indexOf('#');
        String[] words =
                (comment < 0 ? line : line.substring(0, comment)).strip().split(BLANKS);
        if (words.length < 2 || !(words[0].equals(name) || Arrays.asList(words).indexOf(name) > 1)) {
            return -1;
        }
        String ending = "/" + protocol.name().toLowerCase(Locale.ROOT);
        if (!words[1].endsWith(ending)) {
            return -1;
        }
        String digits = words[1].substring(0, words[1].length() - ending.length());
        if (!digits.matches("[0-9]{1,5}")) {
            return -1;
        }
        int port = Integer.parseInt(digits);
        return port <= MAX_PORT ? port : -1;
    }

    private static Path systemFile() {
        if (System.getProperty("os.name", "").startsWith("Windows")) {
            String root = Objects.requireNonNullElse(System.getenv("SystemRoot"), "C:\\Windows");
            return Path.of(root, "System32", "drivers", "etc", "services");
        }
        return Path.of("/etc/services");
    }
}
