package io.rdma4j.cm.spi;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the system answered to questions for routes a moment ago. Thread safe. */
final class RouteAnswers {
    /** How long an answer is taken to be right. */
    static final long FRESH_NANOS = 100_000_000;

    /** When there are so many, all are dropped. */
    static final int MOST = 256;

    /** Java compares IPv6 addresses without their scopes. */
    private record Question(@Nullable InetAddress source, int sourceScope, InetAddress destination, int scope) {}

    private record Answer(InetAddress source, long atNanos) {}

    private final LongSupplier clock;
    private final Map<Question, Answer> answers = new ConcurrentHashMap<>();

    RouteAnswers(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * The address to send from, as it is known or else as the system says.
     *
     * @param ask asks the system; its exceptions, which are no answers, go to the caller
     */
    InetAddress find(@Nullable InetAddress source, InetAddress destination, Supplier<InetAddress> ask) {
        Question question = new Question(source, scope(source), destination, scope(destination));
        long now = clock.getAsLong();
        Answer known = answers.get(question);
        if (known != null && now - known.atNanos < FRESH_NANOS) {
            return known.source;
        }
        Answer fresh = new Answer(ask.get(), now);
        if (answers.size() >= MOST) {
            answers.clear();
        }
        answers.put(question, fresh);
        return fresh.source;
    }

    private static int scope(@Nullable InetAddress address) {
        return address instanceof Inet6Address six ? six.getScopeId() : 0;
    }

    int size() {
        return answers.size();
    }

    /** Asks the system at the next question. */
    void forget() {
        answers.clear();
    }
}
