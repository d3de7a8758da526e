/** Changes a program like an author who edits a workflow and forgets to raise its version. */
import type { Draw } from '../data/draw.ts';
import type { PlainPlan, Program, StepPlan } from '../data/program.ts';

export const MUTATIONS = [
  'rename',
  'insert',
  'remove',
  'kind',
  'needs',
  'idempotent',
  'uses',
  'compensate',
] as const;
export type Mutation = (typeof MUTATIONS)[number];

/** A program with one difference, and the kind of difference. */
export function mutated(program: Program, draw: Draw): { readonly program: Program; readonly by: Mutation } {
  const by = draw.pick(MUTATIONS);
  const changed = mutate(program, by, draw);
  // A program may lack the part that a mutation needs, but each has a step to rename.
  return changed ? { program: changed, by } : { program: renamed(program, draw), by: 'rename' };
}

function mutate(program: Program, by: Mutation, draw: Draw): Program | undefined {
  switch (by) {
    case 'rename':
      return renamed(program, draw);
    case 'insert':
      return inserted(program, draw);
    case 'remove':
      return removed(program, draw);
    case 'kind':
      return withStep(program, draw.pick(program.steps), otherKind);
    case 'needs':
      return otherNeeds(program, draw);
    case 'idempotent':
      return withPlain(program, draw, (plan) => ({ ...plan, idempotent: !plan.idempotent }));
    case 'uses':
      return withPlain(program, draw, (plan) => ({ ...plan, uses: true }));
    case 'compensate':
      return withPlain(program, draw, ({ compensate, ...plan }) =>
        compensate ? plan : { ...plan, compensate: plan.body },
      );
  }
}

function renamed(program: Program, draw: Draw): Program {
  const { id } = draw.pick(program.steps);
  const name = (other: string) => (other === id ? `${id}-renamed` : other);
  return {
    ...program,
    result: program.result.map(name),
    steps: program.steps.map((step) => ({ ...step, id: name(step.id), needs: step.needs.map(name) })),
  };
}

function inserted(program: Program, draw: Draw): Program {
  const before = draw.below(program.steps.length);
  const next = program.steps[before] as StepPlan;
  const step = plainStep(`${program.type}-inserted`, next.needs);
  const steps = program.steps.toSpliced(before, 1, step, { ...next, needs: [step.id] });
  return { ...program, steps };
}

function removed(program: Program, draw: Draw): Program | undefined {
  if (program.steps.length < 2) return undefined;
  const { id } = draw.pick(program.steps);
  const isOther = (other: string) => other !== id;
  return {
    ...program,
    result: program.result.filter(isOther),
    steps: program.steps
      .filter((step) => isOther(step.id))
      .map((step) => ({ ...step, needs: step.needs.filter(isOther) })),
  };
}

function otherKind(plan: StepPlan): StepPlan {
  const { id, needs, when, ifSkipped, onFailure } = plan;
  if (plan.kind !== 'sleep') return { id, needs, when, ifSkipped, onFailure, kind: 'sleep', ms: 1 };
  return plainStep(id, needs);
}

function otherNeeds(program: Program, draw: Draw): Program | undefined {
  const at = draw.below(program.steps.length);
  const plan = program.steps[at] as StepPlan;
  const [first] = program.steps;
  if (plan.needs.length > 0) return withStep(program, plan, (one) => ({ ...one, needs: one.needs.slice(1) }));
  return first && at > 0
    ? withStep(program, plan, (one) => ({ ...one, needs: [...one.needs, first.id] }))
    : undefined;
}

function withPlain(
  program: Program,
  draw: Draw,
  change: (plan: PlainPlan) => PlainPlan,
): Program | undefined {
  const plain = program.steps.filter((step) => step.kind === 'step');
  return plain.length === 0
    ? undefined
    : withStep(program, draw.pick(plain), (plan) => change(plan as PlainPlan));
}

function withStep(program: Program, { id }: StepPlan, change: (plan: StepPlan) => StepPlan): Program {
  return { ...program, steps: program.steps.map((step) => (step.id === id ? change(step) : step)) };
}

function plainStep(id: string, needs: readonly string[]): PlainPlan {
  return {
    id,
    needs,
    when: 'always',
    ifSkipped: 'run',
    onFailure: 'fail',
    kind: 'step',
    body: { attempts: ['ok'], maxAttempts: 1 },
    idempotent: true,
    memo: false,
    policy: 'none',
  };
}
