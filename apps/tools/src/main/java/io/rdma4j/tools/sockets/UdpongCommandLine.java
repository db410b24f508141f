package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A parser of the command line of udpong that behaves like C's parser. Used once. */
final class UdpongCommandLine {
    private static final String LETTERS = "s:b:B:C:S:p:T:";
    private static final int DEFAULT_COUNT = 1000;
    private static final int DEFAULT_BYTES = 1000;

    private final ToolEnvironment environment;

    private @Nullable String server;
    private @Nullable String bind;
    private String port = "7174";
    private int bufferBytes;
    private boolean custom;
    private int count = DEFAULT_COUNT;
    private int sizeBytes = DEFAULT_BYTES;
    private boolean usesUdp;
    private boolean isAsync;
    private boolean isBlocking;
    private boolean isEcho;

    UdpongCommandLine(ToolEnvironment environment) {
        this.environment = environment;
    }

    /** Parses the arguments. If they are invalid, prints the reason and returns null. */
    @Nullable
    UdpongOptions read(List<String> arguments) {
        Getopt options = new Getopt("udpong", LETTERS, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (!parse(letter, options.argumentOrEmpty())) {
                environment.out().print(Udpong.USAGE);
                return null;
            }
            if (sizeBytes < UdpongMessage.CONTROL_BYTES) {
                environment.out().println("size must be at least " + UdpongMessage.CONTROL_BYTES + " bytes");
                return null;
            }
        }
        return new UdpongOptions(
                server, bind, bufferBytes, custom, count, sizeBytes, port, usesUdp, isAsync, isBlocking, isEcho);
    }

    private boolean parse(int letter, String value) {
        switch (letter) {
            case 's' -> server = value;
            case 'b' -> bind = value;
            case 'B' -> bufferBytes = CStrings.atoi(value);
            case 'C' -> {
                custom = true;
                count = CStrings.atoi(value);
            }
            case 'S' -> {
                custom = true;
                sizeBytes = CStrings.atoi(value);
            }
            case 'p' -> port = value;
            case 'T' -> {
                return parseTest(value);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Parses a test option: a letter, or a word that starts with the name of the option. */
    private boolean parseTest(String value) {
        String word = value.toLowerCase(Locale.ROOT);
        if (value.equals("s") || word.startsWith("socket")) {
            usesUdp = true;
        } else if (value.equals("a") || word.startsWith("async")) {
            isAsync = true;
        } else if (value.equals("b") || word.startsWith("block")) {
            isBlocking = true;
        } else if (value.equals("n") || word.startsWith("nonblock")) {
            isBlocking = false;
        } else if (value.equals("e") || word.startsWith("echo")) {
            isEcho = true;
        } else {
            return false;
        }
        return true;
    }
}
