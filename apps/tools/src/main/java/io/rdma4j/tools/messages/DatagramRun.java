package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/** The common part of udaddy and mckey: datagram queue pairs and their messages. */
abstract class DatagramRun extends MessageRun {
    final int messages;
    private final int messageBytes;

    DatagramRun(
            ToolEnvironment environment,
            String tool,
            PortSpace portSpace,
            int connections,
            int messageCount,
            int messageBytes) {
        super(environment, tool, portSpace, connections);
        this.messageBytes = messageBytes;
        messages = messageBytes == 0 ? 0 : messageCount;
    }

    /** Returns whether a queue pair receives its own datagrams to a multicast group. */
    boolean hasLoopback() {
        return true;
    }

    /** Creates the node's queue pair if a message fits the active MTU. */
    final int prepare(Node node) {
        CmId id = node.id();
        int mtu = id.verbs().port(id.portNumber()).activeMtu().bytes();
        if (messages > 0 && messageBytes > mtu) {
            report.step("message_size " + messageBytes + " is larger than active mtu " + mtu);
            return -Errno.EINVAL.number();
        }
        try {
            node.createDatagrams(messages, messageBytes, hasLoopback());
            return 0;
        } catch (RdmaException e) {
            report.stepFailure("unable to create QP", e);
            return -1;
        } catch (OutOfMemoryError e) {
            return noMemory(e);
        }
    }

    final int postReceives(Node node) {
        try {
            node.postReceives(messages);
            return 0;
        } catch (RdmaException e) {
            return notPosted("receives", e);
        }
    }

    final int postSends(boolean signaled) {
        for (Node node : nodes) {
            try {
                if (node.connected) {
                    node.postDatagrams(messages, signaled);
                }
            } catch (RdmaException e) {
                return notPosted("sends", e);
            }
        }
        return 0;
    }

    private int notPosted(String what, RdmaException cause) {
        report.line("failed to post " + what + ": " + cause.errno().number());
        report.explain(String.valueOf(cause.getMessage()));
        return cause.errno().number();
    }

    final int pollAll(boolean waitForFirst) {
        for (Node node : nodes) {
            int status = node.connected ? poll(node, node.receives(), messages, waitForFirst) : 0;
            if (status != 0) {
                return status;
            }
        }
        return 0;
    }

    /** Stores the destination, which is the peer or the group, and marks the node as connected. */
    final int connected(Node node, DatagramParameters destination) {
        node.remoteQueuePair = destination.queuePairNumber();
        node.remoteQueueKey = destination.queueKey();
        try {
            node.handle = node.domain().createAddressHandle(destination.addressVector());
        } catch (RdmaException e) {
            report.step("failure creating address handle");
            report.explain(String.valueOf(e.getMessage()));
            return connectError();
        }
        node.connected = true;
        connectsLeft--;
        return 0;
    }
}
