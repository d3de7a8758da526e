/** Draws a program whose bodies act outside. */
import { Draw } from '../data/draw.ts';
import { type ActionPlan, ASKED_FIRST, type BodyPlan, NATURES, type Program, type StepPlan } from './plan.ts';

const MAX_STEPS = 4;
const MAX_ACTIONS = 4;

export function generate(seed: number): Program {
  return program({ draw: new Draw(seed), more: new Draw(seed * 7_919 + 17) }, `a${seed}`, 0);
}

interface Draws {
  readonly draw: Draw;
  /** Draws features that were added later, so that the rest of each program stays the same. */
  readonly more: Draw;
}

function program(draws: Draws, type: string, depth: number): Program {
  const { draw, more } = draws;
  const steps: StepPlan[] = [];
  const count = draw.between(1, depth === 0 ? MAX_STEPS : 2);
  // A program has only a few natures, so that each occurs in several places.
  const natures = Array.from({ length: 3 }, () => draw.below(ASKED_FIRST)).map((nature) =>
    more.chance(0.15) ? nature + ASKED_FIRST : nature,
  );
  for (let i = 0; i < count; i += 1) steps.push(step(draws, { id: `${type}-s${i}`, steps, depth, natures }));
  return { type, steps };
}

interface Where {
  readonly id: string;
  readonly steps: readonly StepPlan[];
  readonly depth: number;
  readonly natures: readonly number[];
}

function step(draws: Draws, { id, steps, depth, natures }: Where): StepPlan {
  const { draw } = draws;
  const kind = draw.weighted<StepPlan['kind']>([
    [6, 'step'],
    [2, 'map'],
    [depth === 0 ? 1.5 : 0, 'child'],
  ]);
  const common = {
    id,
    kind,
    needs: draw.some(
      steps.slice(-3).map((earlier) => earlier.id),
      draw.between(0, 2),
    ),
    patient: draw.chance(0.75),
    onFailure: draw.chance(0.8) ? ('fail' as const) : ('skip' as const),
  };
  if (kind === 'child') {
    return { ...common, bodies: [], idempotent: true, child: program(draws, `${id}-c`, depth + 1) };
  }
  const bodies = Array.from({ length: kind === 'map' ? draw.between(1, 3) : 1 }, () => body(draw, natures));
  const compensate = draw.chance(0.3)
    ? { compensate: { ...body(draw, natures), end: 'returns' as const } }
    : {};
  const all = [...bodies, ...('compensate' in compensate ? [compensate.compensate] : [])];
  const natureIs = (asks: (nature: (typeof NATURES)[number]) => boolean | undefined) =>
    all.some(({ actions }) =>
      actions.some(({ nature }) => asks(NATURES[nature] as (typeof NATURES)[number])),
    );
  const asksAgain = natureIs(({ replayPolicy }) => replayPolicy === 'require_human');
  const asksFirst = natureIs(({ requiresConfirmation }) => requiresConfirmation);
  return { ...common, bodies, idempotent: asksAgain || draw.chance(0.93) || asksFirst, ...compensate };
}

function body(draw: Draw, natures: readonly number[]): BodyPlan {
  const actions = Array.from({ length: draw.between(0, MAX_ACTIONS) }, () => action(draw, natures));
  return {
    actions,
    order: draw.weighted([
      [5, 'sequence'],
      [4, 'together'],
      [1, 'unawaited'],
    ]),
    swallows: draw.chance(0.2),
    end: draw.weighted([
      [80, 'returns'],
      [12, 'throws_once'],
      [10, 'fatal'],
    ]),
  };
}

function action(draw: Draw, natures: readonly number[]): ActionPlan {
  return {
    nature: draw.pick(natures),
    welcome: draw.weighted([
      [84, 'taken'],
      [9, 'refused_once'],
      [4, 'refused_twice'],
      [3, 'refused_for_good'],
    ]),
    salted: draw.chance(0.4),
  };
}
