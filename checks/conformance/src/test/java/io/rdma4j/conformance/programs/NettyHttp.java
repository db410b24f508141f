package io.rdma4j.conformance.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;

/** An HTTP server and client with Netty's NIO transport, without any RDMA code. */
final class NettyHttp {
    private static final int BODY = 500_000;

    private NettyHttp() {}

    public static void main(String[] words) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        if (words[0].equals("server")) {
            serve(group, words[1], Integer.parseInt(words[2]));
        } else {
            get(group, words[1], Integer.parseInt(words[2]));
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
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16), answer());
                    }
                });
        Channel channel = bootstrap.bind(host, port).sync().channel();
        System.out.println("ready");
        channel.closeFuture().sync();
    }

    private static SimpleChannelInboundHandler<FullHttpRequest> answer() {
        return new SimpleChannelInboundHandler<>() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
                FullHttpResponse response = new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(new byte[BODY]));
                response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, BODY);
                var _ = context.writeAndFlush(response);
            }
        };
    }

    private static void get(EventLoopGroup group, String host, int port) throws InterruptedException {
        Bootstrap bootstrap = new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(1 << 20), print());
                    }
                });
        Channel channel = bootstrap.connect(host, port).sync().channel();
        channel.writeAndFlush(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"))
                .sync();
        channel.closeFuture().sync();
    }

    private static SimpleChannelInboundHandler<FullHttpResponse> print() {
        return new SimpleChannelInboundHandler<>() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
                System.out.println(
                        response.status().code() + " " + response.content().readableBytes() + " bytes");
                var _ = context.close();
            }
        };
    }
}
