package io.rdma4j.bench.report;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table.
 *
 * @param id its name, by which {@code --only} and other rows refer to it
 * @param group heading under which it stands
 * @param title what it is, for people
 * @param experiment id of the experiment that brings its figure
 * @param figure name of the figure, of {@link io.rdma4j.bench.worker.Figures}
 * @param unit what the figure counts
 * @param raw id of the row that is the floor of this one, or null
 * @param aims what it should reach
 */
public record Row(
        String id,
        String group,
        String title,
        String experiment,
        String figure,
        Unit unit,
        @Nullable String raw,
        List<Aim> aims) {}
