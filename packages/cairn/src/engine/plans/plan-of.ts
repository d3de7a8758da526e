/** The plan of a workflow as it is defined in this process: its description and fingerprint, made on first use. */
import { type Plan, planFingerprint, type StepPlan } from '../../core/plan/plan.ts';
import type { SetRules, StepDefinition, Workflow } from '../define/steps.ts';
import { shapeOf } from './shape.ts';

interface Described {
  readonly plan: Plan;
  readonly fingerprint: string;
}

const known = new WeakMap<Workflow, Described>();

export function planOf(workflow: Workflow): Described {
  let described = known.get(workflow);
  if (!described) {
    const plan = describe(workflow);
    described = { plan, fingerprint: planFingerprint(plan) };
    known.set(workflow, described);
  }
  return described;
}

function describe({ input, onDoubt, policy, result, steps }: Workflow): Plan {
  return {
    input: shapeOf(input),
    onDoubt: onDoubt === 'ask' ? onDoubt : undefined,
    ...flagIf('policy', policy),
    result,
    steps: Object.fromEntries([...steps].map(([id, step]) => [id, stepPlan(step)])),
  };
}

function stepPlan(step: StepDefinition): StepPlan {
  const { kind, needs, when, ifSkipped, reads, idempotent, resumable, onFailure } = step;
  return {
    kind,
    needs: [...new Set(Object.values(needs))].sort(),
    ...flagIf('when', when),
    ifSkipped: ifSkipped === 'run' ? ifSkipped : undefined,
    reads,
    idempotent: idempotent ? undefined : (false as const),
    resumable: resumable ? undefined : (false as const),
    onFailure: onFailure.kind === 'fail' ? undefined : onFailure.kind,
    ...ofKind(step),
  };
}

function ofKind(step: StepDefinition): Partial<StepPlan> {
  switch (step.kind) {
    case 'step':
    case 'map': {
      const { policy, uses, compensate, output } = step;
      return {
        ...flagIf('policy', policy),
        ...flagIf('newAttempt', step.newAttempt),
        uses: uses.length === 0 ? undefined : uses.map(({ id }) => id).sort(),
        ...flagIf('compensate', compensate),
        output: output && shapeOf(output),
        ...('set' in step ? setPlan(step.set) : {}),
      };
    }
    case 'flow': {
      const { uses, returns = step.loop?.state, undo } = step;
      return {
        ...flagIf('loop', step.loop),
        uses: uses.length === 0 ? undefined : uses.map(({ id }) => id).sort(),
        compensate: Object.keys(undo).length === 0 ? undefined : (true as const),
        output: returns && shapeOf(returns),
      };
    }
    case 'approval':
      return {
        onExpiry: step.onExpiry === 'fail' ? undefined : step.onExpiry,
        data: step.data && shapeOf(step.data),
      };
    case 'event':
      return { event: step.event, output: step.output && shapeOf(step.output) };
    case 'sleep':
      return {};
    case 'child': {
      const { workflow, onParentEnd, set } = step;
      return {
        workflow,
        onParentEnd: onParentEnd === 'cancel' ? undefined : onParentEnd,
        ...(set ? setPlan(set) : {}),
      };
    }
  }
}

function setPlan({ completion }: SetRules): Partial<StepPlan> {
  return {
    over: true,
    completion: completion.kind === 'all' ? undefined : Object.values(completion).join(' '),
  };
}

function flagIf<K extends string>(name: K, given: unknown): { [P in K]?: true } {
  return (given === undefined ? {} : { [name]: true }) as { [P in K]?: true };
}
