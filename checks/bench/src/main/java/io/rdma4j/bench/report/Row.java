package io.rdma4j.bench.report;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table.
 *
 * @param id name by which {@code --only} and other rows refer to it
 * @param group heading above it
 * @param title description for readers
 * @param experiment ID of the experiment that measures its figure
 * @param figure name of the figure, from {@link io.rdma4j.bench.worker.Figures}
 * @param unit unit of the figure
 * @param raw ID of the row that is the floor of this one, or null
 * @param aims targets of the figure
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
