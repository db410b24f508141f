package io.rdma4j.faults;

import io.rdma4j.faults.cases.CmAbuse;
import io.rdma4j.faults.cases.DeadPath;
import io.rdma4j.faults.cases.IllegalAccess;
import io.rdma4j.faults.cases.PlantedMistakes;
import io.rdma4j.faults.cases.Predictability;
import io.rdma4j.faults.cases.PsnWrap;
import io.rdma4j.faults.cases.SameHostAttacker;
import io.rdma4j.faults.cases.Seeds;
import io.rdma4j.faults.cases.TakingBack;
import io.rdma4j.faults.cases.TenantIsolation;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** All acceptance tests. */
public final class Catalogue {
    private Catalogue() {}

    /** A new instance of each, by number. */
    public static List<AcceptanceTest> tests() {
        return Stream.<AcceptanceTest>of(
                        new CmAbuse(),
                        new IllegalAccess(),
                        new DeadPath(),
                        new Predictability(),
                        new SameHostAttacker(),
                        new TakingBack(),
                        new TenantIsolation(),
                        new Seeds(),
                        new PsnWrap(),
                        new PlantedMistakes())
                .sorted(Comparator.comparingInt(AcceptanceTest::number))
                .toList();
    }
}
