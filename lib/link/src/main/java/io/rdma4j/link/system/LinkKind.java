package io.rdma4j.link.system;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.linux.LinuxLinkSet;
import io.rdma4j.link.nio.NioLinkSet;
import java.io.IOException;

/** A kind of link set, with its requirements. */
enum LinkKind {
    /** UDP through NIO, on every system. */
    NIO {
        @Override
        boolean isAvailable() {
            return true;
        }

        @Override
        LinkSet open() throws IOException {
            return new NioLinkSet();
        }
    },

    /** UDP through Linux's system calls. */
    LINUX {
        @Override
        boolean isAvailable() {
            return isLinux() && LinkKind.class.getModule().isNativeAccessEnabled();
        }

        @Override
        LinkSet open() throws IOException {
            if (!isLinux()) {
                throw new IOException("link kind 'linux': this system is " + System.getProperty("os.name")
                        + "; use nio, which works everywhere");
            }
            Module module = LinkKind.class.getModule();
            if (!module.isNativeAccessEnabled()) {
                throw new IOException("link kind 'linux': native access is not enabled; start Java with"
                        + " --enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED")
                        + ", or use nio");
            }
            return new LinuxLinkSet();
        }
    };

    /**
     * Returns the kind with a name.
     *
     * @throws IllegalArgumentException if there is no such kind
     */
    static LinkKind of(String name) {
        return switch (name) {
            case "nio" -> NIO;
            case "linux" -> LINUX;
            default -> throw new IllegalArgumentException("link kind '" + name + "': must be nio or linux");
        };
    }

    private static boolean isLinux() {
        return System.getProperty("os.name", "").equals("Linux");
    }

    /** Returns whether this system, and the options that Java was started with, allow this kind. */
    abstract boolean isAvailable();

    /**
     * Opens a link set.
     *
     * @throws IOException if this system, or the options Java was started with, do not allow this kind
     */
    abstract LinkSet open() throws IOException;
}
