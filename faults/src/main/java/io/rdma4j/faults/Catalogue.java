package io.rdma4j.faults;

import io.rdma4j.faults.cases.DeadPath;
import io.rdma4j.faults.cases.Seeds;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** All acceptance tests. */
public final class Catalogue {
    private Catalogue() {}

    /** A new instance of each, by number. */
    public static List<AcceptanceTest> tests() {
        return Stream.<AcceptanceTest>of(new DeadPath(), new Seeds())
                .sorted(Comparator.comparingInt(AcceptanceTest::number))
                .toList();
    }
}
