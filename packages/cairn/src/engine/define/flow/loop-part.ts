/**
 * The workflow of the parts of a loop (core/flow/parts.ts): derived from the workflow that declares the loop, with its version,
 * policies and retention. Only the loop starts it, as a child of its own run.
 */
import { z } from 'zod';
import { loopOfPart } from '../../../core/flow/parts.ts';
import { buildGraph } from '../../../core/graph/graph.ts';
import type { FlowStep, Workflow } from '../steps.ts';
import type { PartInput } from './loop-step.ts';

const input: z.ZodType<PartInput> = z.object({
  input: z.unknown(),
  outputs: z.record(z.string(), z.unknown()),
  feedback: z.string().optional(),
  state: z.unknown(),
  turn: z.number(),
});

/** One workflow object per loop, because facts about a plan are cached by object. */
const known = new WeakMap<FlowStep, Workflow>();

/**
 * @param type of the part
 * @returns undefined if the workflow has no such loop
 */
export function partWorkflow(declared: Workflow, type: string): Workflow | undefined {
  const step = declared.steps.get(loopOfPart(type)?.loopId ?? '');
  if (step?.kind !== 'flow' || !step.loop?.part) return undefined;
  const derived = known.get(step) ?? derivedFrom(declared, { type, step, code: step.loop.part });
  known.set(step, derived);
  return derived;
}

interface Derivation {
  readonly type: string;
  readonly step: FlowStep;
  readonly code: FlowStep['code'];
}

function derivedFrom({ planVersion, onDoubt, policy, retention }: Workflow, of: Derivation): Workflow {
  const { type, code } = of;
  const { id, idempotent, resumable, uses, retry, retryPerError, idleMs, loop, observer } = of.step;
  const step: FlowStep = {
    kind: 'flow',
    id,
    type,
    needs: {},
    ifSkipped: 'skip',
    onFailure: { kind: 'fail' },
    answers: {},
    undo: {},
    idempotent,
    resumable,
    uses,
    retry,
    retryPerError,
    idleMs,
    code,
    loop: loop?.state ? { state: loop.state } : {},
    observer,
  };
  return {
    type,
    planVersion,
    input,
    secretInput: [],
    github: [],
    pubsub: [],
    slack: [],
    schedules: [],
    onDoubt,
    retention,
    graph: buildGraph([{ id, needs: [] }]),
    steps: new Map([[id, step]]),
    result: { part: id },
    policy,
  };
}
