package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.system.LinkSets;
import io.rdma4j.soft.options.CongestionOption;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.transport.CongestionMarks;
import io.rdma4j.transport.SourcePortCheck;
import io.rdma4j.value.Gid;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PeerReputationTest {
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(60);
    private static final Gid PEER = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid OWN = new Gid(0, 0xffff_0a00_0002L);
    private static final long SECOND = 1_000_000_000L;

    private static PeerReputation peerReputation(SecurityOptions.SourcePort port, SecurityOptions.Violations punished) {
        return new PeerReputation(port, punished, CongestionOption.AUTO, KEEP_ALIVE, OWN::equals);
    }

    private static PeerReputation punishing(SecurityOptions.Violations punished) {
        return peerReputation(SecurityOptions.SourcePort.AUTO, punished);
    }

    @Test
    void onlyQueuePairsOfRdma4jMustKeepTheirPort() {
        PeerReputation peerReputation = peerReputation(SecurityOptions.SourcePort.AUTO, SecurityOptions.Violations.OFF);
        peerReputation.noteRdma4jPeer(PEER, 5, true, "a connection");
        assertThat(peerReputation.sourcePortCheck(PEER, 5)).isEqualTo(SourcePortCheck.ENFORCE);
        assertThat(peerReputation.sourcePortCheck(PEER, 6)).isEqualTo(SourcePortCheck.COUNT);
        assertThat(peerReputation.sourcePortCheck(OWN, 5)).isEqualTo(SourcePortCheck.COUNT);
        peerReputation.noteRdma4jPeer(PEER, 5, true, "its successor");
        peerReputation.forget(PEER, 5, "a connection");
        assertThat(peerReputation.sourcePortCheck(PEER, 5)).isEqualTo(SourcePortCheck.ENFORCE);
        peerReputation.forget(PEER, 5, "its successor");
        assertThat(peerReputation.sourcePortCheck(PEER, 5)).isEqualTo(SourcePortCheck.COUNT);
    }

    @Test
    void settingAppliesToAllPeers() {
        for (SourcePortCheck check : SourcePortCheck.values()) {
            PeerReputation peerReputation =
                    peerReputation(SecurityOptions.SourcePort.valueOf(check.name()), SecurityOptions.Violations.OFF);
            assertThat(peerReputation.sourcePortCheck(PEER, 5)).isEqualTo(check);
        }
    }

    @Test
    void packetsToAPeerThatReportsMarksMayBeMarked() {
        PeerReputation auto = peerReputation(SecurityOptions.SourcePort.AUTO, SecurityOptions.Violations.OFF);
        assertThat(auto.congestionMarks(PEER, 5)).isEqualTo(CongestionMarks.LEARN);
        auto.noteRdma4jPeer(PEER, 5, false, "without native access");
        assertThat(auto.congestionMarks(PEER, 5)).isEqualTo(CongestionMarks.LEARN);
        auto.noteRdma4jPeer(PEER, 5, true, "with native access");
        assertThat(auto.congestionMarks(PEER, 5)).isEqualTo(CongestionMarks.ON);
        assertThat(auto.congestionMarks(PEER, 6)).isEqualTo(CongestionMarks.LEARN);
    }

    @Test
    void idlePeersOfOtherHostsAreProbedIfTheyAreRdma4j() {
        PeerReputation auto = peerReputation(SecurityOptions.SourcePort.AUTO, SecurityOptions.Violations.OFF);
        assertThat(auto.keepAlive(PEER, 5)).isZero();
        auto.noteRdma4jPeer(PEER, 5, true, "a connection");
        auto.noteRdma4jPeer(OWN, 6, true, "a connection");
        assertThat(auto.keepAlive(PEER, 5)).isEqualTo(KEEP_ALIVE);
        assertThat(auto.keepAlive(OWN, 6)).isZero();
    }

    @Test
    void guidsOfRdma4jAreRecognizedAndOthersAreNot() {
        Random random = new Random(3);
        for (int i = 0; i < 1000; i++) {
            long guid = ProcessGuid.draw(random);
            assertThat(ProcessGuid.isRdma4jPeer(guid)).isTrue();
            assertThat(ProcessGuid.reportsMarks(guid)).isEqualTo(LinkSets.readsTrafficClass());
        }
        assertThat(ProcessGuid.isRdma4jPeer(0x5054_00ff_fe88_0001L)).isFalse();
        assertThat(ProcessGuid.isRdma4jPeer(0)).isFalse();
        assertThat(ProcessGuid.reportsMarks(-1)).isFalse();
    }

    @Test
    void fiveIllegalAccessesWithinAMinuteBlockAnAddressForAMinute() {
        PeerReputation peerReputation = punishing(SecurityOptions.Violations.REMOTE);
        for (int i = 0; i < 4; i++) {
            peerReputation.noteViolation(PEER, i * SECOND);
        }
        assertThat(peerReputation.isRefused(PEER, 4 * SECOND)).isFalse();
        peerReputation.noteViolation(PEER, 5 * SECOND);
        assertThat(peerReputation.isRefused(PEER, 5 * SECOND)).isTrue();
        assertThat(peerReputation.isRefused(new Gid(0, 1), 5 * SECOND)).isFalse();
        assertThat(peerReputation.isRefused(PEER, 65 * SECOND - 1)).isTrue();
        assertThat(peerReputation.isRefused(PEER, 65 * SECOND)).isFalse();
    }

    @Test
    void rareIllegalAccessesHaveNoConsequence() {
        PeerReputation peerReputation = punishing(SecurityOptions.Violations.REMOTE);
        for (int i = 0; i < 100; i++) {
            long now = 20L * i * SECOND;
            peerReputation.noteViolation(PEER, now);
            assertThat(peerReputation.isRefused(PEER, now)).isFalse();
        }
    }

    @Test
    void localAddressesAreBlockedOnlyIfConfigured() {
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
    void oldestViolatorsAreRemovedWhenThereAreTooMany() {
        PeerReputation peerReputation = punishing(SecurityOptions.Violations.REMOTE);
        for (int i = 0; i < 5; i++) {
            peerReputation.noteViolation(PEER, 0);
        }
        for (int i = 0; i < 1023; i++) {
            peerReputation.noteViolation(new Gid(1, i), 0);
        }
        assertThat(peerReputation.isRefused(PEER, 1)).isTrue();
        peerReputation.noteViolation(new Gid(2, 0), 0);
        assertThat(peerReputation.isRefused(PEER, 1)).isFalse();
    }
}
