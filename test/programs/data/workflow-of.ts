/** Makes a real workflow of a program, whose bodies behave as planned and take their time. */
import { z } from 'zod';
import { defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type * as types from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { BODY_TIMEOUT, type Context, perform, type Stage, undo } from './bodies.ts';
import type {
  BodyPlan,
  ChildPlan,
  Completion,
  MapPlan,
  PlainPlan,
  Program,
  ProgramInput,
  StepPlan,
} from './program.ts';
import { ADDED, childInput, eventKey, isOdd, replacement, seen } from './values.ts';

/** Time-out of waits. Answers come well before it, or well after. */
const WAIT_TIMEOUT_MS = 24 * 3_600_000;
/** No body performs this capability; it only appears in the graph. */
const UNUSED = defineCapability({
  id: 'mail.send',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({}),
  response: z.object({}),
});
/** Longer than a trial takes. */
const POLL_WITHIN = '1000d';
const DATA = z.object({ said: z.number(), added: z.string().default(ADDED.added) });
const SNAPPY = { initialMs: 500, factor: 4, capMs: 30_000 };

export function workflowOf(program: Program, stage: Stage, planVersion = 1): Workflow {
  return defineWorkflow<ProgramInput>({
    type: program.type,
    planVersion,
    input: z.object({ path: z.string(), salt: z.number() }),
    onDoubt: program.onDoubt,
    ...(program.policy === 'none' ? {} : { policy: () => verdict(program.policy) }),
    steps(step) {
      const handles = new Map<string, types.Handle<unknown>>();
      for (const plan of program.steps)
        handles.set(plan.id, declare(step, { program, plan, handles, stage }));
      return Object.fromEntries(program.result.map((id) => [id, handles.get(id) as types.Handle<unknown>]));
    },
  });
}

interface Declaration {
  readonly program: Program;
  readonly plan: StepPlan;
  readonly handles: ReadonlyMap<string, types.Handle<unknown>>;
  readonly stage: Stage;
}

function declare(step: types.StepFactory<ProgramInput>, declaration: Declaration): types.Handle<unknown> {
  const { plan, handles, stage } = declaration;
  const needsOf = needsIn(declaration);
  const sight = (context: object) => ({ plan, context: context as Context, needs: needsOf(context) });
  const shared = {
    needs: Object.fromEntries(plan.needs.map((id, i) => [`n${i}`, handles.get(id) as types.Handle<unknown>])),
    ifSkipped: plan.ifSkipped as 'run',
    ...(plan.when === 'always'
      ? {}
      : { when: (context: object) => plan.when === 'odd' && isOdd(plan, needsOf(context)) }),
  };
  const onFailure = plan.onFailure === 'degrade' ? { degradeTo: replacement(plan) as never } : plan.onFailure;
  const common = { ...shared, onFailure };
  switch (plan.kind) {
    case 'step':
      return step(plan.id, { ...common, ...bodyOptions(plan, plan.body.maxAttempts, stage) }, (context) =>
        perform(sight(context), plan.body, stage),
      );
    case 'map': {
      const options = {
        ...common,
        ...bodyOptions(plan, plan.maxAttempts, stage),
        ...fanOut(plan, plan.items.length),
      };
      return step.map(plan.id, options, (context) =>
        perform(sight(context), plan.items[context.index] as BodyPlan, stage),
      );
    }
    case 'sleep':
      return step.sleep(plan.id, { ...shared, for: plan.ms });
    case 'approval':
      return step.approval(plan.id, {
        ...common,
        ask: () => ({ question: `what of ${plan.id}?`, details: [plan.answer] }),
        timeout: WAIT_TIMEOUT_MS,
        onExpiry: plan.onExpiry,
        ...(plan.data ? { data: DATA } : {}),
      } as Parameters<typeof step.approval>[1]);
    case 'event':
      return step.event(plan.id, {
        ...common,
        event: 'happened',
        key: ({ input }) => eventKey(plan, input),
        timeout: WAIT_TIMEOUT_MS,
      });
    case 'child': {
      const input = (context: object) => {
        const { input: own, index } = context as Context;
        return childInput(plan, own, needsOf(context), index);
      };
      const options = { ...common, workflow: plan.program.type, input, onParentEnd: plan.onParentEnd };
      if (plan.copies === undefined) return step.child(plan.id, options);
      return step.child(plan.id, { ...options, ...fanOut(plan, plan.copies) });
    }
  }
}

/** The part of its needs that a function of the step sees and others may depend on. */
function needsIn({ program, plan }: Declaration): (context: object) => unknown[] {
  const plans = plan.needs.map((id) => program.steps.find((other) => other.id === id) as StepPlan);
  return (context) =>
    plans.map((needed, i) => seen(needed, (context as Readonly<Record<string, unknown>>)[`n${i}`]));
}

function bodyOptions(plan: PlainPlan | MapPlan, maxAttempts: number, stage: Stage) {
  const { compensate } = plan;
  return {
    timeout: BODY_TIMEOUT,
    retry: { ...SNAPPY, maxAttempts },
    ...(plan.kind === 'step' ? { idempotent: plan.idempotent } : {}),
    ...(plan.kind === 'step' && plan.policy !== 'none' ? { policy: () => verdict(plan.policy) } : {}),
    ...(plan.kind === 'step' && plan.polls !== undefined ? { poll: { within: POLL_WITHIN } } : {}),
    ...(plan.kind === 'step' && plan.uses ? { uses: [UNUSED] } : {}),
    ...(compensate ? { compensate: (context: object) => undo(compensate, context as Context, stage) } : {}),
  };
}

function fanOut({ concurrency, completion }: MapPlan | ChildPlan, items: number) {
  return {
    over: () => Array.from({ length: items }, (_, i) => i),
    concurrency,
    ...(completion ? { completion: completionOf(completion) } : {}),
  } as { over: () => number[]; concurrency: number; completion: types.Completion };
}

function completionOf(completion: Completion): types.Completion {
  return 'share' in completion ? { tolerate: `${completion.share}%` } : completion;
}

function verdict(policy: 'none' | 'allow' | 'deny') {
  return { allowed: policy !== 'deny', policySnapshotId: 'rules-1', reason: `the plan says ${policy}` };
}
