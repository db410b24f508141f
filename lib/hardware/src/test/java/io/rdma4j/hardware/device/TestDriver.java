package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;

/**
 * The library of driver.c, compiled and loaded before the real libibverbs. Linux finds a loaded library by its name.
 * The library has one device, with queue pairs that are connected to themselves.
 */
final class TestDriver {
    private static final class Holder {
        static final TestDriver LOADED = load();
    }

    private final MethodHandle liveObjects;
    private final MethodHandle otherAbi;
    private final MethodHandle missingEntries;
    private final MethodHandle pollsBeforeFailure;
    private final MethodHandle reportEvent;
    private final MethodHandle lacksExtensions;
    private final MethodHandle lastAccess;
    private final MethodHandle ticks;
    private final MethodHandle reregisterFails;
    private final MethodHandle lastChanges;
    private final MethodHandle vendor;
    private final MethodHandle lacksFunction;
    private final MethodHandle liveAtClose;
    private final MethodHandle holdDestroy;
    private final MethodHandle inDestroy;
    private final MethodHandle holdInline;
    private final MethodHandle inInline;

    @SuppressWarnings("restricted")
    private TestDriver(Path library) {
        SymbolLookup lookup = SymbolLookup.libraryLookup(library, Arena.global());
        FunctionDescriptor returnsInt = FunctionDescriptor.of(JAVA_INT);
        FunctionDescriptor takesInt = FunctionDescriptor.ofVoid(JAVA_INT);
        liveObjects = handle(lookup, "live_objects", returnsInt);
        lastAccess = handle(lookup, "last_access", returnsInt);
        liveAtClose = handle(lookup, "live_at_close", returnsInt);
        inDestroy = handle(lookup, "in_destroy", returnsInt);
        holdInline = handle(lookup, "hold_inline", takesInt);
        inInline = handle(lookup, "in_inline", returnsInt);
        holdDestroy = handle(lookup, "hold_destroy", takesInt);
        otherAbi = handle(lookup, "other_abi", takesInt);
        pollsBeforeFailure = handle(lookup, "polls_before_failure", takesInt);
        reportEvent = handle(lookup, "report_event", takesInt);
        missingEntries = handle(lookup, "missing_entries", takesInt);
        lacksExtensions = handle(lookup, "lacks_extensions", takesInt);
        lacksFunction = handle(lookup, "lacks_function", takesInt);
        vendor = handle(lookup, "vendor", takesInt);
        reregisterFails = handle(lookup, "reregister_fails", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT));
        lastChanges = handle(lookup, "last_changes", returnsInt);
        ticks = handle(lookup, "ticks", FunctionDescriptor.ofVoid(JAVA_LONG));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(SymbolLookup lookup, String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(lookup.findOrThrow("test_driver_" + name), type);
    }

    /** Returns the driver. The test is skipped on a host that cannot compile it. */
    static TestDriver loaded() {
        assumeTrue(Files.exists(Path.of("/usr/include/infiniband/verbs.h")), "needs libibverbs-dev");
        return Holder.LOADED;
    }

    /** Connects a new reliable queue pair of the device. */
    static void readyToSend(QueuePair queuePair) {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT));
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(1, Gid.of(InetAddress.ofLiteral("192.0.2.1"))))
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(0x123)
                .receivePsn(5)
                .accessFlags(Set.of(AccessFlag.REMOTE_WRITE)));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
    }

    private static TestDriver load() {
        try {
            Path folder = Files.createTempDirectory("rdma4j-driver");
            Path source = folder.resolve("driver.c");
            Path library = folder.resolve("libibverbs.so.1");
            try (InputStream text = Objects.requireNonNull(TestDriver.class.getResourceAsStream("driver.c"))) {
                Files.copy(text, source);
            }
            Process compiler = new ProcessBuilder(
                            "cc",
                            "-Wall",
                            "-shared",
                            "-fPIC",
                            "-O1",
                            "-Wl,-soname,libibverbs.so.1",
                            "-o",
                            library.toString(),
                            source.toString())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(compiler.waitFor()).as(output).isZero();
            TestDriver driver = new TestDriver(library);
            Files.delete(source);
            Files.delete(library);
            Files.delete(folder);
            return driver;
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException("cannot compile the driver", failed);
        }
    }

    /** Returns the only device. */
    HardwareDevice device() {
        assertThat(HardwareDevices.read()).hasSize(1);
        return HardwareDevices.read().getFirst();
    }

    /** Returns the number of objects that were created and not destroyed. */
    int liveObjects() throws Throwable {
        return (int) liveObjects.invokeExact();
    }

    /** Makes contexts like a library with another binary interface. */
    void hasOtherAbi(boolean value) throws Throwable {
        otherAbi.invokeExact(value ? 1 : 0);
    }

    /** Makes completion queues report fewer entries than were requested. */
    void reportsFewerEntries(int count) throws Throwable {
        missingEntries.invokeExact(count);
    }

    /** Makes polling a completion queue fail after some successful polls. */
    void failsPollAfter(int polls) throws Throwable {
        pollsBeforeFailure.invokeExact(polls);
    }

    /** Reports an asynchronous event of port 1. */
    void reportEvent(int type) throws Throwable {
        reportEvent.invokeExact(type);
    }

    /** Makes contexts without the extended functions. */
    void lacksExtensions(boolean value) throws Throwable {
        lacksExtensions.invokeExact(value ? 1 : 0);
    }

    /** Makes extended queues without the function that reads the timestamp. */
    void lacksFunction(boolean value) throws Throwable {
        lacksFunction.invokeExact(value ? 1 : 0);
    }

    /** Sets the device's vendor ID. */
    void vendor(int value) throws Throwable {
        vendor.invokeExact(value);
    }

    /** Sets the device's clock, which has 2 MHz and 32 bits. */
    void ticks(long value) throws Throwable {
        ticks.invokeExact(value);
    }

    /** Returns the access flags of the last registration, as C received them. */
    int lastAccess() throws Throwable {
        return (int) lastAccess.invokeExact();
    }

    /** Makes re-registrations fail with a result and an errno; 0 makes them succeed. */
    void reregisterFails(int result, int errno) throws Throwable {
        reregisterFails.invokeExact(result, errno);
    }

    /** Returns the flags of the last re-registration, as C received them. */
    int lastChanges() throws Throwable {
        return (int) lastChanges.invokeExact();
    }

    /** Returns the number of objects that existed when a context was last closed. */
    int liveObjectsAtClose() throws Throwable {
        return (int) liveAtClose.invokeExact();
    }

    /** Holds the calls that destroy queue pairs, or lets them return. */
    void holdDestroy(boolean value) throws Throwable {
        holdDestroy.invokeExact(value ? 1 : 0);
    }

    /** Holds the calls that post inline data before they read the data, or lets them continue. */
    void holdInline(boolean value) throws Throwable {
        holdInline.invokeExact(value ? 1 : 0);
    }

    /** Returns whether a call that posts inline data is held. */
    boolean isInlineHeld() throws Throwable {
        return (int) inInline.invokeExact() != 0;
    }

    /** Returns the number of calls that are destroying queue pairs. */
    int callsInDestroy() throws Throwable {
        return (int) inDestroy.invokeExact();
    }
}
