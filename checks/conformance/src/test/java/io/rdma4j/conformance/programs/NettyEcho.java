package io.rdma4j.conformance.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.Random;

/** An echo server and client with Netty's NIO transport, as in its examples, without any RDMA code. */
final class NettyEcho {
    private static final int BYTES = 4_000_000;

    private NettyEcho() {}

    public static void main(String[] words) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        if (words[0].equals("server")) {
            serve(group, words[1], Integer.parseInt(words[2]));
        } else {
            echo(group, words[1], Integer.parseInt(words[2]));
            group.shutdownGracefully().syncUninterruptibly();
        }
    }

    private static void serve(EventLoopGroup group, String host, int port) throws InterruptedException {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                var _ = context.write(message);
                            }

                            @Override
                            public void channelReadComplete(ChannelHandlerContext context) {
                                context.flush();
                            }
                        });
                    }
                });
        Channel channel = bootstrap.bind(host, port).sync().channel();
        System.out.println("ready");
        channel.closeFuture().sync();
    }

    private static void echo(EventLoopGroup group, String host, int port) throws InterruptedException {
        byte[] sent = new byte[BYTES];
        new Random(1).nextBytes(sent);
        ByteBuf received = Unpooled.buffer(BYTES);
        Bootstrap bootstrap = new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, ByteBuf part) {
                        received.writeBytes(part);
                        if (received.readableBytes() >= BYTES) {
                            var _ = context.close();
                        }
                    }
                });
        Channel channel = bootstrap.connect(host, port).sync().channel();
        channel.writeAndFlush(Unpooled.wrappedBuffer(sent)).sync();
        channel.closeFuture().sync();
        boolean same = received.equals(Unpooled.wrappedBuffer(sent));
        System.out.println(same ? "echoed " + BYTES + " bytes" : "the echo differs");
    }
}
