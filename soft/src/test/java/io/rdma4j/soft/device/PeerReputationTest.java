package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.soft.SecurityOptions;
import io.rdma4j.transport.SourcePortCheck;
import io.rdma4j.verbs.Gid;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PeerReputationTest {
    private static final Gid PEER = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid OWN = new Gid(0, 0xffff_0a00_0002L);
    private static final long SECOND = 1_000_000_000L;

    private static PeerReputation peers(SecurityOptions.SourcePort port, SecurityOptions.Violations punished) {
        return new PeerReputation(port, punished, OWN::equals);
    }

    private static PeerReputation punishing(SecurityOptions.Violations punished) {
        return peers(SecurityOptions.SourcePort.AUTO, punished);
    }

    @Test
    void onlyQueuePairsOfRdma4jAreHeldToTheirPort() {
        PeerReputation peers = peers(SecurityOptions.SourcePort.AUTO, SecurityOptions.Violations.OFF);
        peers.noteKin(PEER, 5, "a connection");
        assertThat(peers.sourcePortCheck(PEER, 5)).isEqualTo(SourcePortCheck.ENFORCE);
        assertThat(peers.sourcePortCheck(PEER, 6)).isEqualTo(SourcePortCheck.COUNT);
        assertThat(peers.sourcePortCheck(OWN, 5)).isEqualTo(SourcePortCheck.COUNT);
        peers.noteKin(PEER, 5, "its successor");
        peers.forget(PEER, 5, "a connection");
        assertThat(peers.sourcePortCheck(PEER, 5)).isEqualTo(SourcePortCheck.ENFORCE);
        peers.forget(PEER, 5, "its successor");
        assertThat(peers.sourcePortCheck(PEER, 5)).isEqualTo(SourcePortCheck.COUNT);
    }

    @Test
    void aSettingCountsForAllPeers() {
        for (SourcePortCheck check : SourcePortCheck.values()) {
            PeerReputation peers = peers(SecurityOptions.SourcePort.valueOf(check.name()), SecurityOptions.Violations.OFF);
            assertThat(peers.sourcePortCheck(PEER, 5)).isEqualTo(check);
        }
    }

    @Test
    void ownGuidsAreKnownAndOthersAreNot() {
        Random random = new Random(3);
        for (int i = 0; i < 1000; i++) {
            long guid = ProcessGuid.draw(random);
            assertThat(ProcessGuid.isKin(guid)).isTrue();
            assertThat(ProcessGuid.isKin(guid + 4096))
                    .as("of a later interface")
                    .isTrue();
        }
        assertThat(ProcessGuid.isKin(0x5054_00ff_fe88_0001L)).isFalse();
        assertThat(ProcessGuid.isKin(0)).isFalse();
    }

    @Test
    void fiveIllegalAccessesWithinAMinuteCloseTheDoorForAMinute() {
        PeerReputation peers = punishing(SecurityOptions.Violations.REMOTE);
        for (int i = 0; i < 4; i++) {
            peers.noteViolation(PEER, i * SECOND);
        }
        assertThat(peers.isRefused(PEER, 4 * SECOND)).isFalse();
        peers.noteViolation(PEER, 5 * SECOND);
        assertThat(peers.isRefused(PEER, 5 * SECOND)).isTrue();
        assertThat(peers.isRefused(new Gid(0, 1), 5 * SECOND)).isFalse();
        assertThat(peers.isRefused(PEER, 65 * SECOND - 1)).isTrue();
        assertThat(peers.isRefused(PEER, 65 * SECOND)).isFalse();
    }

    @Test
    void illegalAccessesThatAreFarBetweenAreForgiven() {
        PeerReputation peers = punishing(SecurityOptions.Violations.REMOTE);
        for (int i = 0; i < 100; i++) {
            long now = 20L * i * SECOND;
            peers.noteViolation(PEER, now);
            assertThat(peers.isRefused(PEER, now)).isFalse();
        }
    }

    @Test
    void processesOfThisHostDoNotPayForEachOtherUnlessAsked() {
        PeerReputation remote = punishing(SecurityOptions.Violations.REMOTE);
        PeerReputation all = punishing(SecurityOptions.Violations.ALL);
        PeerReputation off = punishing(SecurityOptions.Violations.OFF);
        for (int i = 0; i < 10; i++) {
            remote.noteViolation(OWN, 0);
            all.noteViolation(OWN, 0);
            off.noteViolation(PEER, 0);
        }
        assertThat(remote.isRefused(OWN, 1)).isFalse();
        assertThat(all.isRefused(OWN, 1)).isTrue();
        assertThat(off.isRefused(PEER, 1)).isFalse();
    }

    @Test
    void violatorsAreForgottenWhenThereAreTooMany() {
        PeerReputation peers = punishing(SecurityOptions.Violations.REMOTE);
        for (int i = 0; i < 5; i++) {
            peers.noteViolation(PEER, 0);
        }
        for (int i = 0; i < 1023; i++) {
            peers.noteViolation(new Gid(1, i), 0);
        }
        assertThat(peers.isRefused(PEER, 1)).isTrue();
        peers.noteViolation(new Gid(2, 0), 0);
        assertThat(peers.isRefused(PEER, 1)).isFalse();
    }
}
