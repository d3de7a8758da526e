/** Checks the data with which a person approves, by the schema of the approval. */
import { CairnError } from '../../core/errors.ts';
import { allIssues, type Issue } from '../../core/first-issue.ts';
import { messageOf, readable } from '../../core/thrown.ts';
import type { ApprovalStep, StepDefinition } from '../define/steps.ts';

type TypedApproval = ApprovalStep & Required<Pick<ApprovalStep, 'data'>>;

export function takesData(step: StepDefinition): step is TypedApproval {
  return step.kind === 'approval' && step.data !== undefined;
}

/** The data as the schema returns it. @throws CairnError INVALID_INPUT with every issue */
export function checkedData(step: TypedApproval, given: unknown, stepKey: string): unknown {
  let issues: readonly Issue[];
  try {
    const parsed = step.data.safeParse(given);
    if (parsed.success) return parsed.data;
    issues = parsed.error.issues;
  } catch (thrown) {
    // By a function within the author's schema, or because it is asynchronous: as much a refusal.
    issues = [{ path: [], message: messageOf(readable(thrown)) }];
  }
  const { field, why } = allIssues(issues, 'data');
  throw new CairnError('INVALID_INPUT', why, {
    field,
    stepId: stepKey,
    help: 'Send data that fits. `dataSchema` of the wait is its JSON Schema; the page of the run has a form for it. The question is still open.',
  });
}
