package io.rdma4j.sockets.net;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.URI;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Access to the platform's socket implementations, and to the protected methods of all socket implementations. Java
 * creates the platform's implementations only inside {@code java.net}, so that package must be open to this one; the
 * agent opens it. Reading and writing do not use this class.
 */
final class PlatformSockets {
    private static final Method NEW = method("createPlatformSocketImpl", boolean.class);
    private static final Constructor<?> NEW_SOCKS = socksConstructor();
    private static final Method CREATE = method("create", boolean.class);
    private static final Method CONNECT = method("connect", SocketAddress.class, int.class);
    private static final Method BIND = method("bind", InetAddress.class, int.class);
    private static final Method LISTEN = method("listen", int.class);
    private static final Method ACCEPT = method("accept", SocketImpl.class);
    private static final Method INPUT = method("getInputStream");
    private static final Method OUTPUT = method("getOutputStream");
    private static final Method AVAILABLE = method("available");
    private static final Method SHUTDOWN_INPUT = method("shutdownInput");
    private static final Method SHUTDOWN_OUTPUT = method("shutdownOutput");
    private static final Method CLOSE = method("close");
    private static final Method DESCRIPTOR = method("getFileDescriptor");
    private static final Method ADDRESS = method("getInetAddress");
    private static final Method PORT = method("getPort");
    private static final Method LOCAL_PORT = method("getLocalPort");
    private static final Method SUPPORTS_URGENT = method("supportsUrgentData");
    private static final Method SEND_URGENT = method("sendUrgentData", int.class);
    private static final Method OPTIONS = method("supportedOptions");
    private static final Method SET_OPTION = method("setOption", SocketOption.class, Object.class);
    private static final Method GET_OPTION = method("getOption", SocketOption.class);

    private PlatformSockets() {}

    private static Method method(String name, Class<?>... parameters) {
        try {
            Method found = SocketImpl.class.getDeclaredMethod(name, parameters);
            found.setAccessible(true);
            return found;
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("This Java has no java.net.SocketImpl." + name, e);
        } catch (InaccessibleObjectException e) {
            throw new IllegalStateException(
                    "The package java.net is closed: start Java with the agent of rdma4j, or with --add-opens"
                            + " java.base/java.net=ALL-UNNAMED",
                    e);
        }
    }

    private static Constructor<?> socksConstructor() {
        try {
            Constructor<?> found = Class.forName("java.net.SocksSocketImpl").getDeclaredConstructor(SocketImpl.class);
            found.setAccessible(true);
            return found;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Java has no java.net.SocksSocketImpl", e);
        }
    }

    /** Returns an implementation of the platform that uses no proxy: it connects directly, listens, or is accepted. */
    static SocketImpl direct(boolean listens) {
        try {
            return (SocketImpl) NEW.invoke(null, listens);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Java cannot create a socket", e);
        }
    }

    /**
     * Returns an implementation of the platform. It connects through a SOCKS proxy if the system properties name one.
     */
    static SocketImpl connecting() {
        try {
            return (SocketImpl) NEW_SOCKS.newInstance(direct(false));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Java cannot create a socket", e);
        }
    }

    /** Returns whether {@link #connecting} would connect to an address through the proxy of the system properties. */
    static boolean hasSocksProxy(InetSocketAddress to) {
        ProxySelector selector = ProxySelector.getDefault();
        if (selector == null || System.getProperty("socksProxyHost") == null) {
            return false;
        }
        String host = to.getHostString();
        String literal = host.indexOf(':') < 0 ? host : "[" + host + "]";
        try {
            return selector.select(URI.create("socket://" + literal + ":" + to.getPort())).stream()
                    .anyMatch(proxy -> proxy.type() == Proxy.Type.SOCKS);
        } catch (IllegalArgumentException noUri) {
            return false; // for example a link-local address: a proxy cannot use its scope
        }
    }

    private static @Nullable Object call(Method method, SocketImpl socket, Object... arguments) throws IOException {
        try {
            return method.invoke(socket, arguments);
        } catch (InvocationTargetException e) {
            switch (e.getCause()) {
                case IOException failed -> throw failed;
                case RuntimeException refused -> throw refused;
                case Error fatal -> throw fatal;
                case null, default -> throw new IllegalStateException(e);
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Calls a method that throws no exception and does not return null. */
    private static Object value(Method method, SocketImpl socket) {
        try {
            Object value = call(method, socket);
            if (value == null) {
                throw new IllegalStateException(method + " returned null");
            }
            return value;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void create(SocketImpl socket) throws IOException {
        call(CREATE, socket, true);
    }

    static void connect(SocketImpl socket, SocketAddress remote, int timeoutMillis) throws IOException {
        call(CONNECT, socket, remote, timeoutMillis);
    }

    static void bind(SocketImpl socket, InetAddress host, int port) throws IOException {
        call(BIND, socket, host, port);
    }

    static void listen(SocketImpl socket, int backlog) throws IOException {
        call(LISTEN, socket, backlog);
    }

    /** Accepts a connection over TCP and returns its implementation. */
    static SocketImpl accept(SocketImpl listener) throws IOException {
        SocketImpl accepted = direct(false);
        call(ACCEPT, listener, accepted);
        return accepted;
    }

    static InputStream inputStream(SocketImpl socket) throws IOException {
        return (InputStream) Objects.requireNonNull(call(INPUT, socket));
    }

    static OutputStream outputStream(SocketImpl socket) throws IOException {
        return (OutputStream) Objects.requireNonNull(call(OUTPUT, socket));
    }

    static int available(SocketImpl socket) throws IOException {
        return (int) Objects.requireNonNull(call(AVAILABLE, socket));
    }

    static void shutdownInput(SocketImpl socket) throws IOException {
        call(SHUTDOWN_INPUT, socket);
    }

    static void shutdownOutput(SocketImpl socket) throws IOException {
        call(SHUTDOWN_OUTPUT, socket);
    }

    static void close(SocketImpl socket) throws IOException {
        call(CLOSE, socket);
    }

    static @Nullable FileDescriptor fileDescriptor(SocketImpl socket) {
        try {
            return (FileDescriptor) call(DESCRIPTOR, socket);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static @Nullable InetAddress address(SocketImpl socket) {
        try {
            return (InetAddress) call(ADDRESS, socket);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static int port(SocketImpl socket) {
        return (int) value(PORT, socket);
    }

    static int localPort(SocketImpl socket) {
        return (int) value(LOCAL_PORT, socket);
    }

    static boolean supportsUrgentData(SocketImpl socket) {
        return (boolean) value(SUPPORTS_URGENT, socket);
    }

    static void sendUrgentData(SocketImpl socket, int data) throws IOException {
        call(SEND_URGENT, socket, data);
    }

    @SuppressWarnings("unchecked") // as declared by SocketImpl
    static Set<SocketOption<?>> supportedOptions(SocketImpl socket) {
        return (Set<SocketOption<?>>) value(OPTIONS, socket);
    }

    static void setOption(SocketImpl socket, SocketOption<?> option, Object value) throws IOException {
        call(SET_OPTION, socket, option, value);
    }

    static @Nullable Object option(SocketImpl socket, SocketOption<?> option) throws IOException {
        return call(GET_OPTION, socket, option);
    }
}
