package io.rdma4j.acceptance;

import static io.rdma4j.acceptance.AcceptanceTest.forAnyone;
import static io.rdma4j.acceptance.AcceptanceTest.forRoot;

import io.rdma4j.acceptance.cases.Churn;
import io.rdma4j.acceptance.cases.ClosingUnderTraffic;
import io.rdma4j.acceptance.cases.CmAbuse;
import io.rdma4j.acceptance.cases.ConnectingUnderLoss;
import io.rdma4j.acceptance.cases.ConnectionInterfaces;
import io.rdma4j.acceptance.cases.DatagramInterfaces;
import io.rdma4j.acceptance.cases.DeadPath;
import io.rdma4j.acceptance.cases.DisorderMatrix;
import io.rdma4j.acceptance.cases.ErrorStorm;
import io.rdma4j.acceptance.cases.ExactlyOnce;
import io.rdma4j.acceptance.cases.Exhaustion;
import io.rdma4j.acceptance.cases.FlushAfterError;
import io.rdma4j.acceptance.cases.ForeignInterop;
import io.rdma4j.acceptance.cases.Fuzzing;
import io.rdma4j.acceptance.cases.GoodputUnderLoss;
import io.rdma4j.acceptance.cases.HostileInMemory;
import io.rdma4j.acceptance.cases.HostilePackets;
import io.rdma4j.acceptance.cases.IllegalAccess;
import io.rdma4j.acceptance.cases.IntegrityUnderLoss;
import io.rdma4j.acceptance.cases.KilledIdle;
import io.rdma4j.acceptance.cases.KilledInMemory;
import io.rdma4j.acceptance.cases.KilledInTraffic;
import io.rdma4j.acceptance.cases.LinkFlaps;
import io.rdma4j.acceptance.cases.MaliciousPeers;
import io.rdma4j.acceptance.cases.MarkedBottleneck;
import io.rdma4j.acceptance.cases.MemoryAndNetwork;
import io.rdma4j.acceptance.cases.MemoryRevocation;
import io.rdma4j.acceptance.cases.MutationTest;
import io.rdma4j.acceptance.cases.NoisyNeighbours;
import io.rdma4j.acceptance.cases.OffPathInjection;
import io.rdma4j.acceptance.cases.OverrunAndStarvation;
import io.rdma4j.acceptance.cases.PathsOfNetwork;
import io.rdma4j.acceptance.cases.Pauses;
import io.rdma4j.acceptance.cases.Predictability;
import io.rdma4j.acceptance.cases.PsnWrap;
import io.rdma4j.acceptance.cases.ReceiverNotReady;
import io.rdma4j.acceptance.cases.SameHostAttacker;
import io.rdma4j.acceptance.cases.Seeds;
import io.rdma4j.acceptance.cases.Soak;
import io.rdma4j.acceptance.cases.StatePairs;
import io.rdma4j.acceptance.cases.TenantIsolation;
import io.rdma4j.acceptance.cases.ThousandProcesses;
import io.rdma4j.acceptance.cases.WatchedQueuePairs;
import io.rdma4j.acceptance.cases.WithdrawnRequests;
import java.util.List;

/** The list of all acceptance tests. */
final class AcceptanceTests {
    private AcceptanceTests() {}

    /** Returns a new instance of each test, ordered by number. */
    static List<AcceptanceTest> tests() {
        return List.of(
                forRoot(1, "integrity under loss", new IntegrityUnderLoss()),
                forRoot(2, "exactly once", new ExactlyOnce()),
                forRoot(3, "interoperability with Linux", new ForeignInterop()),
                forAnyone(4, "illegal memory access", new IllegalAccess()),
                forAnyone(5, "hostile packets", new HostilePackets()).within(120, 900),
                forRoot(6, "dead path", new DeadPath()),
                forRoot(7, "peer killed under traffic", new KilledInTraffic()),
                forRoot(8, "idle peer killed", new KilledIdle()),
                forRoot(9, "goodput under loss", new GoodputUnderLoss()),
                forAnyone(10, "fuzzing", new Fuzzing())
                        .within(Fuzzing.limitSeconds(Scale.QUICK), Fuzzing.limitSeconds(Scale.FULL)),
                forAnyone(11, "malicious peers of upper layers", new MaliciousPeers())
                        .within(180, 1200),
                forAnyone(12, "unpredictable numbers", new Predictability()),
                forRoot(13, "off-path injection", new OffPathInjection()),
                forRoot(14, "same-host attacker", new SameHostAttacker()),
                forRoot(15, "tenant isolation", new TenantIsolation()),
                forAnyone(16, "receiver not ready", new ReceiverNotReady()).within(120, 600),
                forAnyone(17, "flush after an error", new FlushAfterError()),
                forAnyone(17, "queue pair states", new StatePairs()),
                forAnyone(18, "overrun and starvation", new OverrunAndStarvation()),
                forAnyone(19, "closing under traffic", new ClosingUnderTraffic())
                        .within(120, 1800),
                forAnyone(19, "memory revocation", new MemoryRevocation()),
                forRoot(20, "connection setup under loss", new ConnectingUnderLoss()),
                forRoot(21, "abuse of connection management", new CmAbuse()),
                forRoot(22, "connection churn", new Churn()),
                forRoot(23, "process pauses", new Pauses()),
                forRoot(24, "listeners whose interfaces change", new ConnectionInterfaces()),
                forRoot(24, "datagram socket whose interfaces change", new DatagramInterfaces()),
                forRoot(24, "link flap and path change", new LinkFlaps()),
                forRoot(25, "reordering, duplicates, jitter", new DisorderMatrix())
                        .within(120, 7200),
                forAnyone(26, "PSN wrap", new PsnWrap()),
                forRoot(28, "noisy neighbours", new NoisyNeighbours()),
                forRoot(29, "resource exhaustion", new Exhaustion()),
                forAnyone(30, "mutation testing", new MutationTest()).within(300, 3600),
                forAnyone(30, "seeded simulations", new Seeds()).within(900, 900),
                forRoot(30, "soak", new Soak()),
                forRoot(31, "processes killed in shared memory", new KilledInMemory())
                        .within(600, 7200),
                forRoot(32, "a thousand processes", new ThousandProcesses()).within(600, 7200),
                forRoot(33, "hostile process in shared memory", new HostileInMemory())
                        .within(600, 7200),
                forRoot(34, "memory and network together", new MemoryAndNetwork()),
                forRoot(35, "paths of a network", new PathsOfNetwork()),
                forRoot(36, "marked bottleneck", new MarkedBottleneck()),
                forRoot(37, "withdrawn connection requests", new WithdrawnRequests()),
                forAnyone(38, "counters of many queue pairs", new WatchedQueuePairs()),
                forAnyone(39, "error storm", new ErrorStorm()));
    }
}
