package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.sockets.StreamToolOptions.Format;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A parser of the command line of rstream or riostream that behaves like C's parser, including its quirks. Used once.
 */
final class StreamCommandLine {
    private final String tool;
    private final String letters;
    private final Set<Test> permitted;
    private final ToolEnvironment environment;

    private @Nullable String server;
    private @Nullable String bind;
    private String port = "7471";
    private Format format = Format.NAME;
    private int bufferBytes;
    private int inlineBytes = 64;
    private boolean custom;
    private int iterations = 1;
    private int transfers = 1000;
    private int sizeBytes = 1000;
    private boolean allSizes;
    private int keepAliveSeconds;
    private final EnumSet<Test> tests = EnumSet.noneOf(Test.class);

    /**
     * Creates a parser.
     *
     * @param letters the options, as for getopt(3)
     * @param permitted the permitted values of {@code -T}
     */
    StreamCommandLine(String tool, String letters, Set<Test> permitted, ToolEnvironment environment) {
        this.tool = tool;
        this.letters = letters;
        this.permitted = permitted;
        this.environment = environment;
    }

    /** Parses the arguments. Returns null if they are invalid; the caller prints the usage. */
    @Nullable
    StreamToolOptions read(List<String> arguments) {
        Getopt options = new Getopt(tool, letters, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (!parse(letter, options.argumentOrEmpty())) {
                return null;
            }
        }
        return new StreamToolOptions(
                server,
                bind,
                port,
                format,
                bufferBytes,
                inlineBytes,
                custom,
                iterations,
                transfers,
                sizeBytes,
                allSizes,
                keepAliveSeconds,
                Collections.unmodifiableSet(tests));
    }

    private boolean parse(int letter, String value) {
        switch (letter) {
            case 's' -> server = value;
            case 'b' -> bind = value;
            case 'f' -> parseFormat(value);
            case 'B' -> bufferBytes = CStrings.atoi(value);
            case 'i' -> inlineBytes = CStrings.atoi(value);
            case 'I' -> {
                custom = true;
                iterations = CStrings.atoi(value);
            }
            case 'C' -> {
                custom = true;
                transfers = CStrings.atoi(value);
            }
            case 'S' -> parseSize(value);
            case 'p' -> port = value;
            case 'k' -> keepAliveSeconds = CStrings.atoi(value);
            case 'T' -> {
                return parseTest(value);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void parseSize(String value) {
        if (startsWithIgnoringCase(value, "all")) {
            allSizes = true;
        } else {
            custom = true;
            sizeBytes = CStrings.atoi(value);
        }
    }

    private void parseFormat(String value) {
        if (startsWithIgnoringCase(value, "ip")) {
            format = Format.IP;
        } else if (startsWithIgnoringCase(value, "gid")) {
            format = Format.GID;
        } else {
            environment.err().println("Warning: unknown address format");
        }
    }

    private boolean parseTest(String value) {
        Test test = Test.of(value);
        if (test == null || !permitted.contains(test)) {
            return false;
        }
        // The later of these two options takes effect.
        if (test == Test.NONBLOCKING) {
            tests.remove(Test.BLOCKING);
        } else if (test == Test.BLOCKING) {
            tests.remove(Test.NONBLOCKING);
        }
        tests.add(test);
        return true;
    }

    private static boolean startsWithIgnoringCase(String word, String prefix) {
        return word.regionMatches(true, 0, prefix, 0, prefix.length());
    }
}
