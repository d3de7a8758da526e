/** Describes in words how a plan differs from an earlier one. */
import { canonicalJson, type Json } from '../encoding/json.ts';
import { type KnownPlan, type Plan, type StepPlan, stepHash } from './plan.ts';

/** Further differences are not listed. */
const MAX_DIFFERENCES = 10;

/** In the order of the report. */
const OPTIONS = [
  'needs',
  'when',
  'ifSkipped',
  'reads',
  'idempotent',
  'newAttempt',
  'resumable',
  'onFailure',
  'policy',
  'uses',
  'compensate',
  'over',
  'completion',
  'onExpiry',
  'event',
  'workflow',
  'onParentEnd',
  'loop',
  'output',
  'data',
] as const satisfies readonly (keyof StepPlan)[];

export interface PlanDifference {
  /** The step at fault; absent: the workflow itself. */
  readonly stepId?: string;
  /** A clause: "step 'charge' was renamed or removed". */
  readonly what: string;
}

/** Default of an absent member. */
const DEFAULTS: Readonly<Record<string, Json>> = {
  ifSkipped: 'skip',
  idempotent: true,
  newAttempt: false,
  resumable: true,
  onFailure: 'fail',
  onExpiry: 'fail',
  onParentEnd: 'cancel',
  uses: [],
};

/** The first differences: missing parts, then new ones, then changed ones; empty: the plans are equal. */
export function planDifference(before: KnownPlan, after: Plan): PlanDifference[] {
  return [...steps(before, after), ...whole(before, after)].slice(0, MAX_DIFFERENCES);
}

function steps(before: KnownPlan, after: Plan): PlanDifference[] {
  const removed = Object.keys(before.steps).filter((id) => !Object.hasOwn(after.steps, id));
  const added = Object.keys(after.steps).filter((id) => !Object.hasOwn(before.steps, id));
  const renamed = new Map(
    removed.flatMap((id) =>
      added.filter((other) => isSame(before.steps[id], after.steps[other])).map((other) => [id, other]),
    ),
  );
  const newNames = new Set(renamed.values());
  const isNew = new Set(added);
  return [
    ...removed.map((id) => {
      const other = renamed.get(id);
      const what = `step '${id}' was renamed${other === undefined ? ' or removed' : ` to '${other}'`}`;
      return { stepId: id, what };
    }),
    ...added
      .filter((id) => !newNames.has(id))
      .map((id) => ({ stepId: id, what: inserted(id, after, isNew) })),
    ...Object.entries(after.steps).flatMap(([id, step]) => {
      // A step may be named like a member that all objects have, such as `constructor`.
      const earlier = Object.hasOwn(before.steps, id) ? before.steps[id] : undefined;
      return earlier === undefined || isSame(earlier, step)
        ? []
        : [{ stepId: id, what: changed(id, earlier, step) }];
    }),
  ];
}

function inserted(id: string, { steps }: Plan, isNew: ReadonlySet<string>): string {
  const next = Object.keys(steps).find((other) => !isNew.has(other) && steps[other]?.needs.includes(id));
  return next === undefined ? `step '${id}' was added` : `step '${id}' was inserted before '${next}'`;
}

function changed(id: string, earlier: StepPlan | string, after: StepPlan): string {
  if (typeof earlier === 'string') return `step '${id}' changed`;
  if (earlier.kind !== after.kind) return `step '${id}' was ${named(earlier.kind)}, is ${named(after.kind)}`;
  const option = OPTIONS.find((name) => !isEqual(earlier[name], after[name]));
  return option === undefined
    ? `step '${id}' changed`
    : optionChanged(`'${option}' of step '${id}'`, option, earlier[option], after[option]);
}

function whole(before: KnownPlan, after: Plan): PlanDifference[] {
  // Hashes alone cover only the steps: they lack the shape of the input.
  const options = [
    'onDoubt',
    'policy',
    'result',
    ...(before.input === '' ? [] : (['input'] as const)),
  ] as const;
  return options
    .filter((name) => !isEqual(before[name], after[name]))
    .map((name) => ({ what: optionChanged(`'${name}' of the workflow`, name, before[name], after[name]) }));
}

function optionChanged(what: string, name: string, earlier: unknown, after: unknown): string {
  if (name === 'output' || name === 'input' || name === 'data') return `the shape of ${what} changed`;
  return `${what} was ${value(name, earlier)}, is ${value(name, after)}`;
}

function value(name: string, given: unknown): string {
  const known = given ?? (name === 'onDoubt' ? 'fail' : DEFAULTS[name]);
  if (known === undefined) return 'absent';
  if (known === true && !(name in DEFAULTS)) return 'there';
  if (Array.isArray(known)) return known.length === 0 ? 'nothing' : known.join(', ');
  return typeof known === 'string' ? `'${known}'` : canonicalJson(known as Json);
}

function named(kind: string): string {
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

function isSame(earlier: StepPlan | string | undefined, after: StepPlan | undefined): boolean {
  if (earlier === undefined || after === undefined) return false;
  return (typeof earlier === 'string' ? earlier : stepHash(earlier)) === stepHash(after);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a as Json) === canonicalJson(b as Json);
}
