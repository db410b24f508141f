package io.rdma4j.faults;

import io.rdma4j.faults.cases.Churn;
import io.rdma4j.faults.cases.ClosingUnderTraffic;
import io.rdma4j.faults.cases.CmAbuse;
import io.rdma4j.faults.cases.ConnectingUnderLoss;
import io.rdma4j.faults.cases.ConnectionInterfaces;
import io.rdma4j.faults.cases.DatagramInterfaces;
import io.rdma4j.faults.cases.DeadPath;
import io.rdma4j.faults.cases.DisorderMatrix;
import io.rdma4j.faults.cases.ExactlyOnce;
import io.rdma4j.faults.cases.Exhaustion;
import io.rdma4j.faults.cases.FlushAfterError;
import io.rdma4j.faults.cases.ForeignInterop;
import io.rdma4j.faults.cases.Fuzzing;
import io.rdma4j.faults.cases.GoodputUnderLoss;
import io.rdma4j.faults.cases.HostilePackets;
import io.rdma4j.faults.cases.IllegalAccess;
import io.rdma4j.faults.cases.IntegrityUnderLoss;
import io.rdma4j.faults.cases.KilledIdle;
import io.rdma4j.faults.cases.KilledInTraffic;
import io.rdma4j.faults.cases.LinkFlaps;
import io.rdma4j.faults.cases.MaliciousPeers;
import io.rdma4j.faults.cases.MemoryRevocation;
import io.rdma4j.faults.cases.MutationTest;
import io.rdma4j.faults.cases.NoisyNeighbours;
import io.rdma4j.faults.cases.OffPathInjection;
import io.rdma4j.faults.cases.OverrunAndStarvation;
import io.rdma4j.faults.cases.Pauses;
import io.rdma4j.faults.cases.Predictability;
import io.rdma4j.faults.cases.PsnWrap;
import io.rdma4j.faults.cases.ReceiverNotReady;
import io.rdma4j.faults.cases.SameHostAttacker;
import io.rdma4j.faults.cases.Seeds;
import io.rdma4j.faults.cases.Soak;
import io.rdma4j.faults.cases.StatePairs;
import io.rdma4j.faults.cases.TenantIsolation;
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
                        new ExactlyOnce(),
                        new Exhaustion(),
                        new FlushAfterError(),
                        new ForeignInterop(),
                        new Fuzzing(),
                        new GoodputUnderLoss(),
                        new HostilePackets(),
                        new IllegalAccess(),
                        new IntegrityUnderLoss(),
                        new KilledIdle(),
                        new KilledInTraffic(),
                        new LinkFlaps(),
                        new MaliciousPeers(),
                        new NoisyNeighbours(),
                        new OffPathInjection(),
                        new OverrunAndStarvation(),
                        new Pauses(),
                        new MutationTest(),
                        new Predictability(),
                        new PsnWrap(),
                        new ReceiverNotReady(),
                        new SameHostAttacker(),
                        new Seeds(),
                        new Soak(),
                        new StatePairs(),
                        new MemoryRevocation(),
                        new TenantIsolation())
                .sorted(Comparator.comparingInt(AcceptanceTest::number))
                .toList();
    }
}
