package io.rdma4j.tools;

import io.rdma4j.link.FaultSpec;
import io.rdma4j.link.LinkOptions;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of every tool, which the C tools do not have: {@code --pcap}, {@code --fault}, {@code --trace},
 * {@code --device}, {@code --json}. They may stand anywhere before a {@code --} and are taken out before the tool sees its arguments, so
 * a tool's own options stay exactly those of C.
 *
 * @param arguments what is left for the tool
 * @param pcap file for a capture of all packets, or null
 * @param fault faults to put on the traffic, or null
 * @param trace whether to print a line per packet
 * @param device name or address of the device to use, or name of its provider; null for any
 * @param json whether to print a JSON document
 * @param help whether {@code --help} was among them
 */
public record CommonOptions(
        List<String> arguments,
        @Nullable Path pcap,
        @Nullable String fault,
        boolean trace,
        @Nullable String device,
        boolean json,
        boolean help) {
    /** Names the device to use; read by {@link io.rdma4j.verbs.DeviceChoice}. */
    private static final String DEVICE_PROPERTY = "rdma4j.device";

    /** Lines about these options for help texts. */
    public static final String HELP = """
        options of every tool, beyond those of C:
          --pcap FILE      write every packet to FILE in pcapng, for Wireshark and tshark
          --fault SPEC     put faults on the traffic, for example loss=1%,dup=1%,seed=7
          --trace          print a line per packet on stderr
          --device NAME    use only this device: its name (rdma4j_eth0), one of its addresses, or its provider (soft)
          --json           one JSON document of parameters and results on stdout; all messages go to stderr
        """;

    /** A wrong use of these options; the message says what is right. */
    public static final class UsageException extends Exception {
        private static final long serialVersionUID = 1L;

        UsageException(String message) {
            super(message);
        }
    }

    /** Takes the options out of a command line. */
    public static CommonOptions parse(List<String> words) throws UsageException {
        List<String> rest = new ArrayList<>();
        Path pcap = null;
        String fault = null;
        String device = null;
        boolean trace = false;
        boolean json = false;
        boolean help = false;
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            int equals = word.indexOf('=');
            String name = word.startsWith("--") && equals > 0 ? word.substring(0, equals) : word;
            switch (name) {
                case "--" -> {
                    rest.addAll(words.subList(i, words.size()));
                    i = words.size();
                }
                case "--trace" -> trace = true;
                case "--json" -> json = true;
                case "--help" -> help = true;
                case "--pcap", "--fault", "--device" -> {
                    String value;
                    if (equals > 0) {
                        value = word.substring(equals + 1);
                    } else if (++i < words.size()) {
                        value = words.get(i);
                    } else {
                        throw new UsageException("option " + name + " needs a value after it");
                    }
                    switch (name) {
                        case "--pcap" -> pcap = checkedFile(value);
                        case "--fault" -> fault = checkedFault(value);
                        default -> device = value;
                    }
                }
                default -> rest.add(word);
            }
        }
        return new CommonOptions(List.copyOf(rest), pcap, fault, trace, device, json, help);
    }

    /** Whether {@code --json} is on a command line, whatever else is wrong with it. */
    static boolean asksForJson(List<String> words) {
        return words.stream().takeWhile(word -> !word.equals("--")).anyMatch("--json"::equals);
    }

    /** The first argument, which names the tool, or null if there is none. */
    @Nullable
    String tool() {
        return arguments.isEmpty() ? null : arguments.getFirst();
    }

    private static String checkedFault(String value) throws UsageException {
        try {
            FaultSpec.parse(value);
            return value;
        } catch (IllegalArgumentException e) {
            throw new UsageException("option --fault: " + e.getMessage());
        }
    }

    private static Path checkedFile(String value) throws UsageException {
        try {
            Path file = Path.of(value).toAbsolutePath();
            Path folder = file.getParent();
            if (Files.isDirectory(file)) {
                throw new UsageException("option --pcap: " + file + " is a folder; give it a file in there");
            }
            if (folder == null || !Files.isDirectory(folder)) {
                throw new UsageException("option --pcap: there is no folder " + folder + "; make it first");
            }
            if (!Files.isWritable(Files.exists(file) ? file : folder)) {
                throw new UsageException("option --pcap: no right to write " + file);
            }
            return file;
        } catch (InvalidPathException e) {
            throw new UsageException("option --pcap: " + e.getMessage());
        }
    }

    /** Tells the devices, by system properties; to be called before the first use of them. */
    public void apply() {
        set(DEVICE_PROPERTY, device);
        set(LinkOptions.CAPTURE_PROPERTY, pcap);
        set(LinkOptions.FAULT_PROPERTY, fault);
        set(LinkOptions.TRACE_PROPERTY, trace ? "true" : null);
    }

    private static void set(String property, @Nullable Object value) {
        if (value != null) {
            System.setProperty(property, value.toString());
        }
    }
}
