package io.rdma4j.programs.peer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.BasicTCP;
import org.jgroups.protocols.FD_SOCK2;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.TCP_NIO2;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;

/** JGroups with two members: messages of 500 000 bytes to the other member and back. */
final class JGroupsMessages implements ServingPeer {
    /** The transport over blocking sockets. */
    static final boolean BLOCKING = false;

    /** The transport over channels and a selector. */
    static final boolean NIO2 = true;

    private static final int BYTES = 500_000;

    private final boolean channels;

    JGroupsMessages(boolean channels) {
        this.channels = channels;
    }

    private JChannel member(int port, int first, Receiver receiver) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        BasicTCP transport = channels ? new TCP_NIO2() : new TCP();
        transport.setBindAddress(loopback);
        transport.setBindPort(port);
        transport.setPortRange(0);
        transport.disableDiagnostics(); // which would join a multicast group of all interfaces
        TCPPING discovery = new TCPPING();
        discovery.setInitialHosts(List.of(new InetSocketAddress(loopback, first)));
        discovery.setPortRange(0);
        JChannel member = new JChannel(
                transport,
                discovery,
                new MERGE3(),
                new FD_SOCK2().setBindAddress(loopback),
                new VERIFY_SUSPECT2(),
                new NAKACK2().useMcastXmit(false),
                new UNICAST3(),
                new STABLE(),
                new GMS().setJoinTimeout(1000),
                new FRAG4());
        member.setReceiver(receiver);
        return member.connect("programs");
    }

    @Override
    public void serve(int port, Path folder) throws Exception {
        Echo echo = new Echo();
        boolean _ = echo.member.complete(member(port, port, echo));
    }

    /** Sends messages back. */
    private static final class Echo implements Receiver {
        /** Complete when the first message arrives, or shortly after. */
        private final CompletableFuture<JChannel> member = new CompletableFuture<>();

        @Override
        public void receive(Message message) {
            try {
                member.join()
                        .send(new BytesMessage(
                                message.getSrc(), message.getArray(), message.getOffset(), message.getLength()));
            } catch (Exception e) {
                throw new IllegalStateException("cannot reply", e);
            }
        }
    }

    @Override
    public PeerClient connect(int port) throws Exception {
        Replies replies = new Replies();
        JChannel member = member(port + 1, port, replies);
        Address other = replies.other(member);
        Blocks blocks = new Blocks(BYTES);
        return () -> {
            member.send(new BytesMessage(other, blocks.next().clone()));
            byte[] reply = replies.arrived.poll(30, TimeUnit.SECONDS);
            if (reply == null || reply.length == 0) {
                throw new IOException(reply == null ? "no reply" : "the other member has left");
            }
            blocks.requireSame(reply);
        };
    }

    /** Collects replies; an empty one says that the other member has left. */
    private static final class Replies implements Receiver {
        private final BlockingQueue<byte[]> arrived = new LinkedBlockingQueue<>();
        private boolean wereTwo;

        @Override
        public void receive(Message message) {
            arrived.add(Arrays.copyOfRange(
                    message.getArray(), message.getOffset(), message.getOffset() + message.getLength()));
        }

        @Override
        public void viewAccepted(View view) {
            if (wereTwo && view.size() < 2) {
                arrived.add(new byte[0]);
            }
            wereTwo = view.size() == 2;
        }

        /** Returns the other member. */
        Address other(JChannel member) throws IOException {
            for (Address each : member.getView().getMembers()) {
                if (!each.equals(member.getAddress())) {
                    return each;
                }
            }
            member.close();
            throw new IOException("the other member has not been found");
        }
    }
}
