package io.rdma4j.faults.relay;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The relay itself: two interfaces, and one thread that carries packets between them.
 *
 * <p>Parameters {@code left} and {@code right} (names of interfaces to make), {@code seed}. Says {@code ready}. To the words
 * {@code disturb left|right DISTURBANCE} (what arrives there) and {@code count} it says {@code counts}: by {@code left} and
 * {@code right}, what was done to what arrives there. Ends when told {@code end}.
 */
public final class RelayProcess implements Role {
    private static final long LONGEST_WAIT_NANOS = 10_000_000;

    private final Queue<Runnable> words = new ConcurrentLinkedQueue<>();
    private volatile boolean ends;

    /** Creates the role. */
    public RelayProcess() {}

    @Override
    public void play(Parent parent) throws IOException, InterruptedException {
        Tun left = Tun.make(parent.text("left", "left"));
        Tun right = Tun.make(parent.text("right", "right"));
        long seed = parent.number("seed", 1);
        Direction toLeft = new Direction(right, left, seed);
        Direction toRight = new Direction(left, right, ~seed);
        Tun.Poll poll = new Tun.Poll(left, right);
        Thread carrier = Thread.ofPlatform().start(() -> carry(toLeft, toRight, poll));
        parent.say("ready", 1);
        for (String line = parent.hear(); !line.equals("end"); line = parent.hear()) {
            String[] parts = line.split(" ", -1);
            if (parts[0].equals("disturb")) {
                Disturbance disturbance = Disturbance.parse(parts[2]);
                Direction direction = parts[1].equals("left") ? toLeft : toRight;
                words.add(() -> direction.disturb(disturbance));
            }
            words.add(() -> parent.say("counts", Map.of("left", toLeft.counts(), "right", toRight.counts())));
        }
        ends = true;
        carrier.join();
    }

    private void carry(Direction toLeft, Direction toRight, Tun.Poll poll) {
        while (!ends) {
            for (Runnable word = words.poll(); word != null; word = words.poll()) {
                word.run();
            }
            long now = System.nanoTime();
            boolean moreToLeft = toLeft.take(now);
            boolean moreToRight = toRight.take(now);
            now = System.nanoTime();
            long due = Math.min(toLeft.releaseDue(now), toRight.releaseDue(now));
            if (!moreToLeft && !moreToRight && due > now) {
                poll.await(Math.min(due - now, LONGEST_WAIT_NANOS));
            }
        }
    }
}
