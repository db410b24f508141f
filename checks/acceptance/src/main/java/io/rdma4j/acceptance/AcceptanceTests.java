package io.rdma4j.acceptance;

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
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The list of all acceptance tests. */
public final class AcceptanceTests {
    private AcceptanceTests() {}

    /** Returns a new instance of each test, ordered by number. */
    public static List<AcceptanceTest> tests() {
        return Stream.<AcceptanceTest>of(
                        new Churn(),
                        new ClosingUnderTraffic(),
                        new CmAbuse(),
                        new ConnectingUnderLoss(),
                        new ConnectionInterfaces(),
                        new DatagramInterfaces(),
                        new DeadPath(),
                        new DisorderMatrix(),
                        new ErrorStorm(),
                        new ExactlyOnce(),
                        new Exhaustion(),
                        new FlushAfterError(),
                        new ForeignInterop(),
                        new Fuzzing(),
                        new GoodputUnderLoss(),
                        new HostileInMemory(),
                        new HostilePackets(),
                        new IllegalAccess(),
                        new IntegrityUnderLoss(),
                        new KilledIdle(),
                        new KilledInMemory(),
                        new KilledInTraffic(),
                        new LinkFlaps(),
                        new MaliciousPeers(),
                        new MarkedBottleneck(),
                        new NoisyNeighbours(),
                        new OffPathInjection(),
                        new OverrunAndStarvation(),
                        new PathsOfNetwork(),
                        new Pauses(),
                        new MutationTest(),
                        new Predictability(),
                        new PsnWrap(),
                        new ReceiverNotReady(),
                        new SameHostAttacker(),
                        new Seeds(),
                        new Soak(),
                        new StatePairs(),
                        new MemoryAndNetwork(),
                        new MemoryRevocation(),
                        new TenantIsolation(),
                        new ThousandProcesses(),
                        new WatchedQueuePairs(),
                        new WithdrawnRequests())
                .sorted(Comparator.comparingInt(AcceptanceTest::number))
                .toList();
    }
}
