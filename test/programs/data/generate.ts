/** Draws a program. A repertoire limits its parts, so that a test can use only some of them. */
import { Draw } from './draw.ts';
import { predict } from './predict.ts';
import type {
  Behaviour,
  BodyPlan,
  ChildPlan,
  Completion,
  EventPlan,
  Kind,
  Program,
  StepPlan,
} from './program.ts';

export interface Repertoire {
  /** Relative frequency of each kind of step. */
  readonly kinds: Partial<Record<Kind, number>>;
  readonly maxSteps: number;
  /** False: no memos, policies, compensation, degraded results, or failures that do not fail the run. */
  readonly extras: boolean;
  /** Some approvals take data. */
  readonly data?: true;
}

const HOUR = 3_600_000;
/** Depth of children. Deeper ones prove nothing new. */
const MAX_DEPTH = 2;

export function generate(seed: number, repertoire: Repertoire): Program {
  return new Generator(new Draw(seed), new Draw(seed * 7_919 + 11), repertoire).program(`p${seed}`, 0);
}

class Generator {
  readonly #draw: Draw;
  /** Draws features that were added later, so that the rest of each program stays the same. */
  readonly #more: Draw;
  readonly #repertoire: Repertoire;
  #sendsBack = false;

  constructor(draw: Draw, more: Draw, repertoire: Repertoire) {
    this.#draw = draw;
    this.#more = more;
    this.#repertoire = repertoire;
  }

  program(type: string, depth: number): Program {
    const draw = this.#draw;
    const steps: StepPlan[] = [];
    const count = draw.between(1, depth === 0 ? this.#repertoire.maxSteps : 4);
    for (let i = 0; i < count; i += 1) steps.push(this.#step(`${type}-s${i}`, steps, depth));
    const result = draw.some(
      steps.map(({ id }) => id),
      3,
    );
    return {
      type,
      steps,
      result,
      onDoubt: this.#repertoire.extras && (depth > 0 || draw.chance(0.5)) ? 'ask' : 'fail',
      policy: this.#repertoire.extras ? this.#policy() : 'none',
    };
  }

  #step(id: string, earlier: readonly StepPlan[], depth: number): StepPlan {
    const plan = this.#drawStep(id, earlier, depth);
    if (this.#repertoire.extras || plan.kind !== 'step') return plan;
    const { compensate: _, ...rest } = plan;
    const attempts = plan.body.attempts.map((one) => (one === 'degraded' || one === 'large' ? 'ok' : one));
    const body = { ...plan.body, attempts };
    return { ...rest, body, memo: false, policy: 'none', onFailure: 'fail' };
  }

  #drawStep(id: string, earlier: readonly StepPlan[], depth: number): StepPlan {
    const draw = this.#draw;
    const kinds = Object.entries(this.#repertoire.kinds) as [Kind, number][];
    const kind = draw.weighted(
      kinds.filter(([name]) => name !== 'child' || depth < MAX_DEPTH).map(([name, weight]) => [weight, name]),
    );
    // Recent steps are needed more often, which gives chains as well as wide graphs.
    const near = earlier.slice(-4).map((step) => step.id);
    const any = {
      id,
      needs: draw.some(near, draw.between(0, 2)),
      when: draw.weighted<'always' | 'never' | 'odd'>([
        [88, 'always'],
        [4, 'never'],
        [8, 'odd'],
      ]),
      ifSkipped: draw.pick(['skip', 'run'] as const),
      onFailure: draw.weighted<'fail' | 'skip' | 'degrade'>([
        [30, 'fail'],
        [35, 'skip'],
        [35, 'degrade'],
      ]),
    };
    switch (kind) {
      case 'step':
        return this.#plain(any);
      case 'map': {
        const maxAttempts = draw.between(1, 4);
        const length = draw.chance(0.9) ? draw.between(0, 6) : 20;
        const items = Array.from({ length }, () => this.#body(12, maxAttempts, ITEM));
        const compensation = this.#compensation(maxAttempts);
        return { ...any, kind, items, maxAttempts, ...this.#fanOut(length), ...compensation };
      }
      case 'sleep':
        return { ...any, kind, ms: draw.pick([0, 500, 4_000, 90_000, 6 * HOUR, 5 * 24 * HOUR]) };
      case 'approval':
        return { ...any, kind, ...this.#approval(any.needs) };
      case 'event': {
        const delivery = draw.weighted<EventPlan['delivery']>([
          [4, 'early'],
          [4, 'on_time'],
          [2, 'signal'],
          [2, 'early_signal'],
          [1, 'late'],
          [1, 'never'],
        ]);
        return { ...any, kind, delivery: this.#more.chance(0.1) ? 'failed' : delivery };
      }
      case 'child':
        return this.#child(any, depth);
    }
  }

  #plain(any: Any): StepPlan {
    const draw = this.#draw;
    const idempotent = draw.chance(0.92);
    const maxAttempts = draw.between(1, 4);
    // A doubt increases the number of the attempt, so the attempt must not decide the end of the step.
    const once: BodyPlan = { attempts: [draw.chance(0.9) ? 'ok' : 'fatal'], maxAttempts };
    return {
      ...any,
      kind: 'step',
      idempotent,
      memo: draw.chance(0.15),
      policy: this.#policy(),
      body: idempotent ? this.#body(8, maxAttempts, BODY) : once,
      ...(idempotent ? this.#polls() : {}),
      ...this.#compensation(maxAttempts),
    };
  }

  #waits(otherwise: 'cancel' | 'abandon'): ChildPlan['onParentEnd'] {
    return this.#more.chance(0.35) ? 'wait' : otherwise;
  }

  #polls(): { polls?: number } {
    return this.#more.chance(0.15) ? { polls: this.#more.between(0, 6) } : {};
  }

  #body(failing: number, maxAttempts: number, behaviours: readonly Behaviour[]): BodyPlan {
    const draw = this.#draw;
    if (draw.chance(failing / 100)) {
      return { attempts: draw.chance(0.5) ? ['throw'] : ['throw', 'fatal'], maxAttempts };
    }
    const before = draw.chance(0.3) ? draw.between(0, maxAttempts - 1) : 0;
    const attempts = Array.from({ length: before }, () => draw.pick(['throw', 'throw', 'hang'] as const));
    const last = draw.chance(0.01) ? 'large' : draw.pick(behaviours);
    return { attempts: [...attempts, last], maxAttempts };
  }

  #compensation(maxAttempts: number): { compensate?: BodyPlan } {
    if (!this.#draw.chance(0.3)) return {};
    const attempts: Behaviour[] = this.#draw.pick([['ok'], ['ok'], ['throw', 'ok'], ['throw']]);
    return { compensate: { attempts, maxAttempts } };
  }

  #policy(): 'none' | 'allow' | 'deny' {
    return this.#draw.weighted([
      [95, 'none'],
      [4, 'allow'],
      [1, 'deny'],
    ]);
  }

  #fanOut(items: number): { concurrency: number; completion?: Completion } {
    const draw = this.#draw;
    const completion = draw.weighted<Completion | undefined>([
      [4, undefined],
      [2, { tolerate: draw.between(0, 2) }],
      [2, { share: draw.pick([0, 34, 50, 100]) }],
      [2, { atLeast: draw.between(0, Math.max(1, items)) }],
    ]);
    return { concurrency: draw.between(1, 8), ...(completion ? { completion } : {}) };
  }

  #approval(needs: readonly string[]) {
    const draw = this.#draw;
    // If two people sent a step back, its last feedback would depend on their order, so only one does.
    const sendsBack = needs.length > 0 && !this.#sendsBack && draw.chance(0.3) ? draw.some(needs, 1) : [];
    if (sendsBack.length > 0) this.#sendsBack = true;
    const { onExpiry, ...asked } = this.#answer();
    const takesData = this.#repertoire.data && onExpiry !== 'approve' && this.#more.chance(0.6);
    return { sendsBack, ...asked, onExpiry, ...(takesData ? { data: true as const } : {}) };
  }

  #answer() {
    const draw = this.#draw;
    return {
      answer: draw.weighted<'approve' | 'approve_with_waiver' | 'reject' | 'halt' | 'nobody'>([
        [8, 'approve'],
        [3, 'approve_with_waiver'],
        [2, 'reject'],
        [1, 'halt'],
        [2, 'nobody'],
      ]),
      onExpiry: draw.weighted<'fail' | 'approve' | 'halt'>([
        [4, 'fail'],
        [4, 'approve'],
        [1, 'halt'],
      ]),
    };
  }

  /** Draws a child with only one possible end, because otherwise the course of its parent would be open. */
  #child(any: Any, depth: number): ChildPlan {
    const draw = this.#draw;
    for (let version = 0; ; version += 1) {
      const program = this.program(`${any.id}-c${version}`, depth + 1);
      const copies = draw.chance(0.5) ? draw.between(0, 3) : undefined;
      const plan: ChildPlan = {
        ...any,
        kind: 'child',
        program,
        ...this.#fanOut(copies ?? 1),
        ...(copies === undefined ? {} : { copies }),
        onParentEnd: this.#waits(draw.pick(['cancel', 'abandon'] as const)),
      };
      const { ends } = predict(program, { path: '', salt: 0 });
      const conditional = program.steps.some(({ when }) => when === 'odd');
      const open = ends.has('completed') && ends.size > 1;
      if (!open && !conditional) return plan;
    }
  }
}

type Any = Pick<StepPlan, 'id' | 'needs' | 'when' | 'ifSkipped' | 'onFailure'>;

const BODY: readonly Behaviour[] = ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'degraded'];
const ITEM: readonly Behaviour[] = ['ok'];
