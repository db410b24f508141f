package io.rdma4j.soft.device;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.system.LinkSets;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.ObjectObserver;
import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.soft.options.CongestionOption;
import io.rdma4j.soft.options.KeepAliveOption;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a stack. A supplier is called when the stack first needs its setting, so that a wrong option is
 * reported by the call that depends on it. A supplier that throws is called again later.
 *
 * @param linkOptions capture, faults and trace of all links
 * @param security limits on what peers may do
 * @param links opens the links of one engine, which closes them
 * @param runDirectory opens the directory through which the processes of this host share addresses
 * @param host the network interfaces and routes of the host
 * @param clock the clock of the stack
 * @param driver drives the engines in virtual time, or null for threads in real time
 * @param random unpredictable numbers for keys, identifiers and sequence numbers; thread safe
 * @param objects observes the objects that the program creates and closes
 */
public record StackSettings(
        Supplier<LinkOptions> linkOptions,
        Supplier<SecurityOptions> security,
        Supplier<LinkSet> links,
        Supplier<RunDirectory> runDirectory,
        HostNetwork host,
        StackClock clock,
        @Nullable StackDriver driver,
        RandomGenerator random,
        ObjectObserver objects) {
    /** Creates the settings of a stack without an observer of its objects. */
    public StackSettings(
            Supplier<LinkOptions> linkOptions,
            Supplier<SecurityOptions> security,
            Supplier<LinkSet> links,
            Supplier<RunDirectory> runDirectory,
            HostNetwork host,
            StackClock clock,
            @Nullable StackDriver driver,
            RandomGenerator random) {
        this(linkOptions, security, links, runDirectory, host, clock, driver, random, ObjectObserver.NONE);
    }

    /** Returns the settings from the system properties and environment variables of this process. */
    public static StackSettings ofProcess() {
        return new StackSettings(
                () -> parsed(LinkOptions::fromSystemProperties),
                () -> parsed(SecurityOptions::fromSystemProperty),
                StackSettings::bestLinks,
                RunDirectories::open,
                HostNetwork.SYSTEM,
                StackClock.SYSTEM,
                null,
                new SecureRandom());
    }

    /** Returns these settings with other link options, derived from the current ones. */
    public StackSettings withLinkOptions(UnaryOperator<LinkOptions> change) {
        return new StackSettings(
                () -> change.apply(linkOptions.get()),
                security,
                links,
                runDirectory,
                host,
                clock,
                driver,
                random,
                objects);
    }

    /** Returns these settings with other limits on what peers may do. */
    public StackSettings withSecurity(SecurityOptions limits) {
        return new StackSettings(linkOptions, () -> limits, links, runDirectory, host, clock, driver, random, objects);
    }

    /** Returns these settings with another run directory. */
    public StackSettings withRunDirectory(Supplier<RunDirectory> directory) {
        return new StackSettings(linkOptions, security, links, directory, host, clock, driver, random, objects);
    }

    /** Returns when connections send packets that routers may mark; the same for all stacks of the process. */
    static CongestionOption congestion() {
        return parsed(CongestionOption::fromSystemProperty);
    }

    /** Returns the idle time after which rdma4j peers of other hosts are probed, zero for never; the same for all stacks. */
    static Duration keepAlive() {
        return parsed(KeepAliveOption::fromSystemProperty);
    }

    private static LinkSet bestLinks() {
        try {
            return LinkSets.best();
        } catch (IllegalArgumentException wrong) {
            throw refusal(wrong);
        } catch (IOException e) {
            throw SystemFailure.of("ibv_open_device", "open sockets for the software device", e, "");
        }
    }

    private static <T> T parsed(Supplier<T> option) {
        try {
            return option.get();
        } catch (IllegalArgumentException wrong) {
            throw refusal(wrong);
        }
    }

    private static RdmaException refusal(IllegalArgumentException wrong) {
        return new RdmaException(
                "ibv_open_device",
                Errno.EINVAL,
                String.valueOf(wrong.getMessage()),
                "Correct the option, or leave it out",
                wrong);
    }
}
