package io.rdma4j.tools.programs;

import java.io.IOException;
import java.nio.channels.Selector;

/** An agent that opens a selector before later agents start, for example to report over HTTP. */
public final class EarlyAgent {
    private EarlyAgent() {}

    /** Starts the agent. */
    public static void premain(String arguments) throws IOException {
        Selector.open().close();
    }
}
