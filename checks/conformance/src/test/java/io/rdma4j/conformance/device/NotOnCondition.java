package io.rdma4j.conformance.device;

import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Evaluates {@link NotOn} for the device under test. */
final class NotOnCondition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        for (NotOn each : AnnotationSupport.findRepeatableAnnotations(context.getElement(), NotOn.class)) {
            if (List.of(each.value()).contains(TestDevices.driver())) {
                return ConditionEvaluationResult.disabled(TestDevices.name() + " " + each.because());
            }
        }
        return ConditionEvaluationResult.enabled("no known difference");
    }
}
