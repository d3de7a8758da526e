/** Executes the bodies: gives them time, and checks that no recorded one is executed again. */
import { stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { type Clock, pause } from '../../../packages/cairn/src/ports/clock.ts';
import type { Beginning, Stage } from '../data/bodies.ts';
import type { Draw } from '../data/draw.ts';

export interface Surroundings {
  readonly db: MemoryDatabase;
  readonly clock: Clock;
  /** True for a process that stalled: it may repeat what another process has done meanwhile, which nothing can prevent. */
  readonly stoodStill: () => boolean;
}

export class WatchedStage implements Stage {
  readonly #draw: Draw;
  readonly #surroundings: () => Surroundings;
  readonly #memos = new Map<string, number>();
  #fresh = 0;
  /** The first wrong observation of a body. */
  failure: unknown;

  constructor(draw: Draw, surroundings: () => Surroundings) {
    this.#draw = draw;
    this.#surroundings = surroundings;
  }

  async spend(signal: AbortSignal): Promise<void> {
    const ms = this.#draw.weighted([
      [6, 0],
      [3, this.#draw.below(200)],
      [2, this.#draw.below(3_000)],
      [1, this.#draw.below(15_000)],
    ]);
    if (ms > 0) await pause(this.#surroundings().clock, ms, signal);
  }

  began(body: Beginning): void {
    const { db, stoodStill } = this.#surroundings();
    const run = db.runs.get(body.runId);
    const key = keyOf(body);
    const settled = run?.events.some(
      (event) =>
        (event.type === 'step_succeeded' || event.type === 'step_degraded') &&
        stepKey(event.data) === key &&
        event.data.revision === body.revision,
    );
    if (settled && !stoodStill() && !wasOrphaned(run?.events)) {
      this.failure ??= new Error(`the body of '${key}' began after its success was recorded`);
    }
  }

  fresh(): number {
    this.#fresh += 1;
    return this.#fresh;
  }

  recalled(body: Beginning, value: number): void {
    const name = `${body.runId} ${keyOf(body)} ${body.revision}`;
    const before = this.#memos.get(name) ?? value;
    this.#memos.set(name, before);
    if (before !== value) {
      this.failure ??= new Error(`the memo of '${keyOf(body)}' was ${before}, and then ${value}`);
    }
  }

  now(): number {
    return this.#surroundings().clock.now();
  }

  heedsSignal(): boolean {
    return this.#draw.chance(0.5);
  }
}

function keyOf({ stepId, index }: Beginning): string {
  return index === undefined ? stepId : `${stepId}[${index}]`;
}

/** True if the lease of a drive expired because its answers were lost for long. Such a process counts as stalled too. */
function wasOrphaned(events: readonly { readonly type: string }[] = []): boolean {
  return events.some(({ type }) => type === 'orphan_detected');
}
