package io.rdma4j.bench.plan;

import io.rdma4j.bench.report.Aim;
import io.rdma4j.bench.report.Row;
import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes one row of a {@link Plan}. Not thread safe. */
final class RowBuilder {
    private final Plan plan;
    private final String id;
    private final String group;
    private final String title;
    private final List<Aim> aims = new ArrayList<>();
    private @Nullable String raw;
    private int level;

    RowBuilder(Plan plan, String id, String group, String title) {
        this.plan = plan;
        this.id = id;
        this.group = group;
        this.title = title;
    }

    /** The row is measured from this level of a pace on; otherwise from 0. */
    RowBuilder from(int lowest) {
        level = lowest;
        return this;
    }

    /** The row that is the floor of this one. */
    RowBuilder raw(String row) {
        raw = row;
        return this;
    }

    /** The row that is the floor of this one, and the most that this may be of it. */
    RowBuilder rawAtMost(String row, double ratio) {
        aims.add(new Aim(true, ratio, row));
        return raw(row);
    }

    /** The row that is the floor of this one, and the least that this may be of it. */
    RowBuilder rawAtLeast(String row, double ratio) {
        aims.add(new Aim(false, ratio, row));
        return raw(row);
    }

    /** The figure itself has a limit from above. */
    RowBuilder atMost(double limit) {
        aims.add(new Aim(true, limit, null));
        return this;
    }

    /** The figure itself has a limit from below. */
    RowBuilder atLeast(double limit) {
        aims.add(new Aim(false, limit, null));
        return this;
    }

    /** This should be less than others. */
    RowBuilder lessThan(String... rows) {
        for (String row : rows) {
            aims.add(new Aim(true, 1, row));
        }
        return this;
    }

    /** This should be at least that many times another. */
    RowBuilder timesAtLeast(double ratio, String row) {
        aims.add(new Aim(false, ratio, row));
        return this;
    }

    /** Ends the row: a median latency. */
    void latency(Experiment experiment) {
        figure(Figures.P50_MICROS, Unit.MICROSECONDS, experiment);
    }

    /** Ends the row: a throughput. */
    void throughput(Experiment experiment) {
        figure(Figures.GIGABYTES_PER_SECOND, Unit.GIGABYTES_PER_SECOND, experiment);
    }

    /** Ends the row: a rate of messages. */
    void rate(Experiment experiment) {
        figure(Figures.MILLIONS_PER_SECOND, Unit.MILLIONS_PER_SECOND, experiment);
    }

    /** Ends the row. */
    void figure(String name, Unit unit, Experiment experiment) {
        if (plan.level() < level) {
            return;
        }
        plan.add(new Row(id, group, title, experiment.id(), name, unit, raw, List.copyOf(aims)), experiment);
    }
}
