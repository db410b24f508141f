package io.rdma4j.bench.plan;

import io.rdma4j.bench.report.Aim;
import io.rdma4j.bench.report.Row;
import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A builder for one row of a {@link Plan}. Not thread safe. */
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

    /** Sets the lowest level of a pace at which the row is measured; the default is 0. */
    RowBuilder from(int lowest) {
        level = lowest;
        return this;
    }

    /** Sets the row that is the floor of this one. */
    RowBuilder raw(String row) {
        raw = row;
        return this;
    }

    /** Sets the row that is the floor of this one, and the maximum ratio to it. */
    RowBuilder rawAtMost(String row, double ratio) {
        aims.add(new Aim(true, ratio, row));
        return raw(row);
    }

    /** Sets the row that is the floor of this one, and the minimum ratio to it. */
    RowBuilder rawAtLeast(String row, double ratio) {
        aims.add(new Aim(false, ratio, row));
        return raw(row);
    }

    /** Sets the maximum of the figure. */
    RowBuilder atMost(double limit) {
        aims.add(new Aim(true, limit, null));
        return this;
    }

    /** Sets the minimum of the figure. */
    RowBuilder atLeast(double limit) {
        aims.add(new Aim(false, limit, null));
        return this;
    }

    /** Adds aims to be less than other rows. */
    RowBuilder lessThan(String... rows) {
        for (String row : rows) {
            aims.add(new Aim(true, 1, row));
        }
        return this;
    }

    /** Adds the aim to be at most {@code ratio} times another row. */
    RowBuilder timesAtMost(double ratio, String row) {
        aims.add(new Aim(true, ratio, row));
        return this;
    }

    /** Adds the aim to be at least {@code ratio} times another row. */
    RowBuilder timesAtLeast(double ratio, String row) {
        aims.add(new Aim(false, ratio, row));
        return this;
    }

    /** Completes the row with a median latency. */
    void latency(Experiment experiment) {
        figure(Figures.P50_MICROS, Unit.MICROSECONDS, experiment);
    }

    /** Completes the row with a throughput. */
    void throughput(Experiment experiment) {
        figure(Figures.GIGABYTES_PER_SECOND, Unit.GIGABYTES_PER_SECOND, experiment);
    }

    /** Completes the row with a message rate. */
    void rate(Experiment experiment) {
        figure(Figures.MILLIONS_PER_SECOND, Unit.MILLIONS_PER_SECOND, experiment);
    }

    /** Completes the row. */
    void figure(String name, Unit unit, Experiment experiment) {
        if (plan.level() < level) {
            return;
        }
        plan.add(new Row(id, group, title, experiment.id(), name, unit, raw, List.copyOf(aims)), experiment);
    }
}
