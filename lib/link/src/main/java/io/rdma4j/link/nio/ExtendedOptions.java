package io.rdma4j.link.nio;

import java.io.IOException;
import java.net.SocketOption;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * Socket options of the module {@code jdk.net}. A process that starts from the class path may lack this module. Its
 * channels then support none of the options, and no class of the module is loaded.
 */
final class ExtendedOptions {
    private ExtendedOptions() {}

    private static boolean supports(NetworkChannel channel, String name) {
        for (SocketOption<?> option : channel.supportedOptions()) {
            if (option.name().equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Forbids fragmentation of a channel's packets. Returns false if there is no such option here. */
    static boolean forbidFragments(DatagramChannel channel) throws IOException {
        if (!supports(channel, "IP_DONTFRAGMENT")) {
            return false;
        }
        channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
        return true;
    }

    /** Returns the user of the process at the other end of a Unix-domain channel, or null if it cannot be determined. */
    static @Nullable UserPrincipal userOfPeer(SocketChannel channel) throws IOException {
        return supports(channel, "SO_PEERCRED")
                ? channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user()
                : null;
    }
}
