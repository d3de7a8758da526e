/** Makes a real workflow of a program, whose bodies act externally as planned and take their time. */
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type * as types from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { acting, CAPABILITIES, type Done } from './outside.ts';
import {
  type ActionPlan,
  type BodyPlan,
  type Place,
  type Program,
  type ProgramInput,
  type StepPlan,
  whatOf,
} from './plan.ts';

/** Executes the bodies. */
export interface Stage {
  /** Resolves after the duration of an action, or once the signal aborts. */
  spend(signal: AbortSignal): Promise<void>;
  isSuccessor(runId: string): boolean;
}

type Context = types.StepContext<ProgramInput> & { readonly index?: number };

const PATIENT = { initialMs: 500, factor: 2, capMs: 30_000, maxAttempts: 60 };
const HASTY = { initialMs: 500, factor: 2, capMs: 30_000, maxAttempts: 3 };

export function workflowOf(program: Program, stage: Stage): Workflow {
  return defineWorkflow<ProgramInput>({
    type: program.type,
    planVersion: 1,
    input: z.object({ path: z.string(), salt: z.number() }),
    onDoubt: 'ask',
    steps(step) {
      const handles = new Map<string, types.Handle<unknown>>();
      for (const plan of program.steps) handles.set(plan.id, declare(step, plan, handles, stage));
      return Object.fromEntries(handles);
    },
  });
}

function declare(
  step: types.StepFactory<ProgramInput>,
  plan: StepPlan,
  handles: ReadonlyMap<string, types.Handle<unknown>>,
  stage: Stage,
): types.Handle<unknown> {
  const { id, compensate, bodies, child } = plan;
  const needs = Object.fromEntries(
    plan.needs.map((need, i) => [`n${i}`, handles.get(need) as types.Handle<unknown>]),
  );
  const common = { needs, onFailure: plan.onFailure, ifSkipped: 'run' as const };
  if (child) {
    const input = (context: object) => {
      const { input: own } = context as Context;
      return { path: `${own.path}/${id}`, salt: own.salt };
    };
    return step.child(id, { ...common, workflow: child.type, input });
  }
  const natures = new Set([...bodies, ...(compensate ? [compensate] : [])].flatMap(({ actions }) => actions));
  const used = new Set([...natures].map(({ nature }) => CAPABILITIES[nature]));
  const options = {
    ...common,
    timeout: '60s',
    retry: plan.patient ? PATIENT : HASTY,
    idempotent: plan.idempotent,
    uses: [...used].filter((capability) => capability !== undefined),
    ...(compensate
      ? {
          compensate: async (context: object) =>
            void (await perform(context as Context, compensate, stage, true)),
        }
      : {}),
  };
  if (plan.kind === 'map') {
    const over = () => bodies.map((_, i) => i);
    return step.map(id, { ...options, over, concurrency: 2 }, (context) =>
      perform(context as Context, bodies[context.index] as BodyPlan, stage, false),
    );
  }
  return step(id, options, (context) => perform(context as Context, bodies[0] as BodyPlan, stage, false));
}

/** Serial numbers of the actions; null for an action that did not take place. */
async function perform(
  context: Context,
  plan: BodyPlan,
  stage: Stage,
  undo: boolean,
): Promise<readonly (number | null)[]> {
  const { runId, stepId, index, revision, input, signal, attempt } = context;
  const place: Place = { path: input.path, stepId, index, revision, undo };
  const one = async (action: ActionPlan, i: number): Promise<number | null> => {
    const capability = CAPABILITIES[action.nature];
    if (!capability) throw new Error('no such nature');
    const what = whatOf(place, i, action, input.salt);
    const options = plan.order === 'sequence' ? {} : { key: `k${i}` };
    try {
      const done = (await context.perform(capability, { what, welcome: action.welcome }, options)) as Done;
      return done.serial;
    } catch (error) {
      if (plan.swallows || plan.order === 'unawaited') return null;
      throw error;
    }
  };
  return acting.run({ runId }, async () => {
    await stage.spend(signal);
    const serials: (number | null)[] = [];
    if (plan.order === 'sequence') {
      for (const [i, action] of plan.actions.entries()) serials.push(await one(action, i));
    } else {
      const all = plan.actions.map(one);
      if (plan.order === 'together') serials.push(...(await Promise.all(all)));
    }
    await stage.spend(signal);
    if (plan.end === 'fatal' && !stage.isSuccessor(runId)) throw new Fatal('broken, until somebody mends it');
    if (plan.end === 'throws_once' && attempt === 1) throw new Error('not at first, as planned');
    return serials;
  });
}
