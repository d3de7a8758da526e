/**
 * The schemas that open waits show for their data. A wait is stored with the schema of its time; a deployment may change the schema
 * within the version of the plan, and the deployed definition checks the data.
 */
import type { Wait } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import { dataSchemaText } from '../define/data-schema.ts';
import type { WorkflowRegistry } from '../define/registry.ts';
import type { StepDefinition } from '../define/steps.ts';
import { workflowOf } from '../definition-of-run.ts';
import { dataSchema } from './answer-data.ts';

type Run = Pick<RunState, 'type' | 'planVersion' | 'planFingerprint'>;

/** The waits with the schemas of the deployed definition; unchanged if the plan of the run is not deployed. */
export function withCurrentSchemas(
  registry: WorkflowRegistry,
  run: Run,
  waits: readonly Wait[],
): readonly Wait[] {
  if (waits.length === 0) return waits;
  const steps = workflowOf(registry, run)?.steps;
  if (!steps) return waits;
  return waits.map((wait) => {
    const step = steps.get(wait.execution.stepId);
    return step ? withCurrentSchema(step, wait) : wait;
  });
}

function withCurrentSchema(step: StepDefinition, wait: Wait): Wait {
  if (wait.kind !== 'approval' && wait.kind !== 'event') return wait;
  const schema = wait.kind === 'approval' ? dataSchema(step, wait) : outputOf(step);
  const text = dataSchemaText(schema);
  return text === wait.dataSchemaText ? wait : { ...wait, dataSchemaText: text };
}

/** The code of a flow checks the data of its events itself. */
function outputOf(step: StepDefinition) {
  return step.kind === 'event' ? step.output : undefined;
}
