package io.rdma4j.testkit.junit;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.testkit.VirtualTime;
import io.rdma4j.verbs.Device;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * The JUnit extension of {@link RdmaFabric}, which registers it. It works with JUnit 5 and 6 (decision 038). Thread
 * safe.
 *
 * <p>It reads these configuration parameters of JUnit, which are system properties or lines of {@code
 * junit-platform.properties}:
 *
 * <ul>
 *   <li>{@value #SEED_PROPERTY}: the seed of all tests, to repeat a failed test
 *   <li>{@value #FOLDER_PROPERTY}: the folder of the captures of failed tests; {@code target/rdma4j} for Maven,
 *       otherwise {@code build/rdma4j}
 *   <li>{@value #LINES_PROPERTY}: the number of packets that a failed test prints, 20 if it is not set
 * </ul>
 */
public final class RdmaFabricExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    /** The configuration parameter with the seed of all tests. */
    public static final String SEED_PROPERTY = "rdma4j.test.seed";

    /** The configuration parameter with the folder of the captures of failed tests. */
    public static final String FOLDER_PROPERTY = "rdma4j.test.captures";

    /** The configuration parameter with the number of packets that a failed test prints. */
    public static final String LINES_PROPERTY = "rdma4j.test.packets";

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(RdmaFabricExtension.class);

    private static final Set<Class<?>> OF_HOST =
            Set.of(TestHost.class, SoftStack.class, Device.class, ConnectionManager.class);

    /** Creates the extension; called by JUnit. */
    public RdmaFabricExtension() {}

    /** Returns the context of the test method, so that a constructor's parameters belong to the method's network. */
    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        var _ = fabric(context);
    }

    /** Checks for leaks, reports a failure, and closes the network. */
    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        Fabric fabric = context.getStore(NAMESPACE).remove(Fabric.class, Fabric.class);
        if (fabric != null) {
            fabric.finish(context, context.getExecutionException().orElse(null));
        }
    }

    private static Fabric fabric(ExtensionContext context) {
        ExtensionContext.Store store = context.getStore(NAMESPACE);
        Fabric known = store.get(Fabric.class, Fabric.class);
        if (known == null) {
            known = Fabric.create(annotation(context), context);
            store.put(Fabric.class, known);
        }
        return known;
    }

    /**
     * Returns the annotation of the method, of its class, or of the nearest class around it; otherwise one with the
     * defaults.
     */
    private static RdmaFabric annotation(ExtensionContext context) {
        Optional<RdmaFabric> found =
                context.getTestMethod().flatMap(method -> AnnotationSupport.findAnnotation(method, RdmaFabric.class));
        Class<?> type = context.getRequiredTestClass();
        while (found.isEmpty() && type != null) {
            found = AnnotationSupport.findAnnotation(type, RdmaFabric.class);
            type = type.getEnclosingClass();
        }
        return found.orElseGet(() -> Defaults.class.getAnnotation(RdmaFabric.class));
    }

    /** Has the annotation with its defaults, for classes that register the extension without it. */
    @RdmaFabric
    private static final class Defaults {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return OF_HOST.contains(type)
                || type == TestNetwork.class
                || type == ConnectedPair.class
                || type == VirtualTime.class;
    }

    @Override
    public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        requireMethod(parameter, context);
        Fabric fabric = fabric(context);
        Class<?> type = parameter.getParameter().getType();
        if (type == TestNetwork.class) {
            return fabric.network();
        }
        if (type == ConnectedPair.class) {
            return fabric.connect(parameter.findAnnotation(Connect.class).orElse(null));
        }
        if (type == VirtualTime.class) {
            if (!fabric.network().isInVirtualTime()) {
                throw new ParameterResolutionException(
                        "the network of this test is in real time: use @RdmaFabric(time = FabricTime.VIRTUAL)");
            }
            return fabric.network().time();
        }
        TestHost host = host(parameter, fabric);
        if (type == TestHost.class) {
            return host;
        }
        return type == SoftStack.class ? host.stack() : type == Device.class ? host.device() : host.connectionManager();
    }

    private static void requireMethod(ParameterContext parameter, ExtensionContext context) {
        boolean ofSharedInstance = parameter.getDeclaringExecutable() instanceof Constructor
                && context.getTestInstanceLifecycle()
                        .filter(TestInstance.Lifecycle.PER_CLASS::equals)
                        .isPresent();
        if (context.getTestMethod().isEmpty() || ofSharedInstance) {
            throw new ParameterResolutionException("a network lasts for one test method, and there is none here: use "
                    + parameter.getParameter().getType().getSimpleName()
                    + " as a parameter of a test method, of a @BeforeEach or @AfterEach method, or of the constructor of a class"
                    + " with an instance for each method");
        }
    }

    private static TestHost host(ParameterContext parameter, Fabric fabric) {
        Optional<Host> named = parameter.findAnnotation(Host.class);
        return named.isPresent() ? fabric.host(named.get().value()) : fabric.host(position(parameter));
    }

    /** Counts the parameters of the same type before a parameter that are not named either. */
    private static int position(ParameterContext parameter) {
        Executable executable = parameter.getDeclaringExecutable();
        Class<?> type = parameter.getParameter().getType();
        int position = 0;
        for (int i = 0; i < parameter.getIndex(); i++) {
            var other = executable.getParameters()[i];
            if (other.getType() == type && !AnnotationSupport.isAnnotated(other, Host.class)) {
                position++;
            }
        }
        return position;
    }
}
