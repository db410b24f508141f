package io.rdma4j.soft.device;

import io.rdma4j.soft.host.HostNetwork;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Settings with the network of this host. A test observes its calls, and can delay, fail or answer them. */
public final class ObservedHost {
    /** Observes the calls. */
    public interface Observer {
        /** Called before the host answers; returns an answer that replaces the host's, or null. */
        @Nullable
        Object onCall(String method, Object[] arguments) throws InterruptedException;
    }

    private static final Object[] NONE = {};

    private ObservedHost() {}

    /** Returns the settings of this process with the observed host. */
    public static StackSettings settings(Observer observer) {
        StackSettings own = StackSettings.ofProcess();
        HostNetwork observed = (HostNetwork) Proxy.newProxyInstance(
                HostNetwork.class.getClassLoader(), new Class<?>[] {HostNetwork.class}, (self, method, arguments) -> {
                    Object answer = observer.onCall(method.getName(), arguments == null ? NONE : arguments);
                    if (answer != null) {
                        return answer;
                    }
                    try {
                        return method.invoke(own.host(), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return new StackSettings(
                own.linkOptions(),
                own.security(),
                own.links(),
                own.runDirectory(),
                observed,
                own.clock(),
                own.driver(),
                own.random());
    }
}
