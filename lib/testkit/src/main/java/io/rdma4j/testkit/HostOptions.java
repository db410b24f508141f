package io.rdma4j.testkit;

import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.soft.options.SecurityOptions;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Options of a {@link TestHost}. Immutable. */
public final class HostOptions {
    private final @Nullable String name;
    private final LinkOptions linkOptions;
    private final SecurityOptions security;

    /** Creates options without capture, faults or trace, and with the default security options. */
    public HostOptions() {
        this(null, LinkOptions.NONE, SecurityOptions.DEFAULT);
    }

    private HostOptions(@Nullable String name, LinkOptions linkOptions, SecurityOptions security) {
        this.name = name;
        this.linkOptions = linkOptions;
        this.security = security;
    }

    /** Returns these options with a name for the host. Hosts without a name are called host1, host2, and so on. */
    public HostOptions withName(String newName) {
        return new HostOptions(newName, linkOptions, security);
    }

    /** Returns these options with a capture, for Wireshark, of all packets that the host sends and receives. */
    public HostOptions withCapture(Path file) {
        return new HostOptions(name, linkOptions.withCaptureFile(file), security);
    }

    /**
     * Returns these options with faults in the packets that the host sends and receives, repeatable by a seed. They are
     * in addition to the network's faults ({@link TestNetwork#conditions}), and apply to each direction.
     *
     * @param specification such as {@code loss=1%,seed=7}, in the format of the tools' option {@code --fault}
     * @throws IllegalArgumentException if the specification is malformed
     */
    public HostOptions withFaults(String specification) {
        return new HostOptions(name, linkOptions.withFaults(FaultSpec.parse(specification)), security);
    }

    /** Returns these options with a line on {@link System#err} for each packet. */
    public HostOptions withTrace() {
        return new HostOptions(name, linkOptions.withTrace(), security);
    }

    /**
     * Returns these options with limits for peers.
     *
     * @param limits such as {@code source-port=enforce,request-rate=100}, in the format of the system property {@code
     *     rdma4j.security}
     * @throws IllegalArgumentException if an option is malformed
     */
    public HostOptions withSecurity(String limits) {
        return new HostOptions(name, linkOptions, SecurityOptions.parse(limits));
    }

    @Nullable
    String name() {
        return name;
    }

    LinkOptions linkOptions() {
        return linkOptions;
    }

    SecurityOptions security() {
        return security;
    }
}
