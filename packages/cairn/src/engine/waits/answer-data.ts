/** Checks the data with which a person approves, by the schema of the approval. */
import type { ZodType } from 'zod';
import { invalidInput } from '../../core/errors.ts';
import { allIssues } from '../../core/first-issue.ts';
import { parsedData } from '../../core/parsed-data.ts';
import type { StepRef, Wait } from '../../core/run/events.ts';
import { stepKey } from '../../core/run/state.ts';
import { answerSchema } from '../define/flow/flow-step.ts';
import type { StepDefinition } from '../define/steps.ts';

/** Schema of the data with which this question is approved; undefined if it accepts none. */
export function dataSchema(
  step: StepDefinition,
  { purpose, execution: { itemKey } }: Pick<Wait, 'purpose' | 'execution'>,
): ZodType<unknown> | undefined {
  // The wait asks about an effect, a crash or the budget, and takes no data.
  if (purpose !== undefined) return undefined;
  if (step.kind === 'approval') return step.data;
  return step.kind === 'flow' && itemKey !== undefined ? answerSchema(step, itemKey) : undefined;
}

/** The data as the schema returns it. @throws CairnError INVALID_INPUT with every issue */
export function checkedData(schema: ZodType<unknown>, data: unknown, step: StepRef): unknown {
  const parsed = parsedData(schema, data);
  if ('data' in parsed) return parsed.data;
  const { field, why } = allIssues(parsed.issues, 'data');
  throw invalidInput(field, why, {
    stepId: stepKey(step),
    help: 'Correct the data. `dataSchema` of the wait is its JSON Schema, and the console has a form for it. The question is still open.',
  });
}
