package io.rdma4j.conformance.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.Random;

/** A datagram echo with Netty's NIO transport; only the line that creates the channels is specific to RDMA. */
final class NettyDatagrams {
    private static final int ROUNDS = 1000;
    private static final int BYTES = 500;

    private NettyDatagrams() {}

    public static void main(String[] words) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        InetSocketAddress server = new InetSocketAddress(words[1], Integer.parseInt(words[2]));
        if (words[0].equals("server")) {
            Channel channel = bootstrap(group, new Echo()).bind(server).sync().channel();
            System.out.println("ready");
            channel.closeFuture().sync();
        } else {
            Client client = new Client(server);
            bootstrap(group, client).bind(0).sync().channel().closeFuture().sync();
            System.out.println(client.rounds + " datagrams echoed");
            group.shutdownGracefully().syncUninterruptibly();
        }
    }

    private static Bootstrap bootstrap(EventLoopGroup group, SimpleChannelInboundHandler<DatagramPacket> handler) {
        return new Bootstrap()
                .group(group)
                .channelFactory(NettyDatagrams::channel)
                .handler(handler);
    }

    private static NioDatagramChannel channel() {
        try {
            return new NioDatagramChannel(RdmaSockets.openDatagramChannel(StandardProtocolFamily.INET));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static final class Echo extends SimpleChannelInboundHandler<DatagramPacket> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
            var _ = context.writeAndFlush(new DatagramPacket(packet.content().retain(), packet.sender()));
        }
    }

    /** Sends a datagram after each echo, and closes its channel after the last echo or if one differs. */
    private static final class Client extends SimpleChannelInboundHandler<DatagramPacket> {
        private final InetSocketAddress server;
        private final Random random = new Random(1);
        private ByteBuf sent = Unpooled.EMPTY_BUFFER;
        int rounds;

        Client(InetSocketAddress server) {
            this.server = server;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            byte[] bytes = new byte[BYTES];
            random.nextBytes(bytes);
            sent = Unpooled.wrappedBuffer(bytes);
            var _ = context.writeAndFlush(new DatagramPacket(sent.duplicate().retain(), server));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
            if (!packet.sender().equals(server) || !packet.content().equals(sent) || ++rounds == ROUNDS) {
                var _ = context.close();
            } else {
                send(context);
            }
        }
    }
}
