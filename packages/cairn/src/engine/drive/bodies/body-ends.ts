/**
 * What follows from the end of a body: its outcome is recorded, another attempt is scheduled, or a person is asked what
 * became of something it did outside.
 *
 * Must not: know what runs besides, or start anything.
 */
import type { RecordedError, Wait } from '../../../core/run/events.ts';
import { needsPayload } from '../../../core/run/values.ts';
import { EffectMoved } from '../../../journal/run-journal.ts';
import { askAbout, canFindOut, effectWait, questionDrafts } from '../../effects/asking.ts';
import type { Ask } from '../../effects/wish.ts';
import * as drafts from '../../facts/drafts.ts';
import type { Output } from '../../facts/output.ts';
import type { Scope } from '../scope.ts';
import type { SettleUnit } from '../sets/fan-outs.ts';
import { keyOf } from '../step-inputs.ts';
import { afterFailure } from './after-failure.ts';
import type { Ended } from './bodies.ts';

/** What the end of a body has its drive do. */
export interface EndMoves {
  readonly settle: SettleUnit;
  readonly rest: (key: string, at: number) => void;
  readonly hasRoomFor: (wait: Wait) => boolean;
  readonly hold: (wait: Wait) => void;
  readonly advance: () => void;
}

/** A question that cannot be put now (there are too many open, or the effect has just moved) is put again after this. */
const ASK_AGAIN_MS = 1_000;

export class BodyEnds {
  readonly #scope: Scope;
  readonly #moves: EndMoves;
  #beingStored = 0;

  constructor(scope: Scope, moves: EndMoves) {
    this.#scope = scope;
    this.#moves = moves;
  }

  /** Large outputs on their way to where they are kept. */
  get beingStored(): number {
    return this.#beingStored;
  }

  async take(ended: Ended): Promise<void> {
    const { unit, execution, result, used, settled } = ended;
    const { step } = unit;
    const scope = this.#scope;
    const ending = { step, execution, now: scope.deps.clock.now() };
    if (result.kind === 'failed') {
      const next = afterFailure(scope.deps, { runId: scope.runId, ...ending, step }, result);
      // A step of which nobody knows what it did does not fail: it finds out, or a person says.
      if (result.doubts && (next.kind === 'give_up' || !canFindOut(scope.deps, result.doubts))) {
        const { doubts } = result;
        const open = doubts.find((doubt) => !canFindOut(scope.deps, [doubt])) ?? doubts[0];
        return this.#askAbout(ended, () => askAbout(scope.deps, open), result.error);
      }
      if (next.kind === 'give_up') {
        const fact = drafts.failedByPolicy(ending, result.error);
        return this.#moves.settle(unit, execution, [...settled, fact], drafts.outcomeOf([fact]));
      }
      return this.#tryAgain(ended, next.at, result.error);
    }
    if (result.kind === 'asks') return this.#askAbout(ended, async () => result.ask, undefined);
    const record = (output: Output) => {
      const fact = drafts.done(ending, output, { ...used, degraded: result.degraded });
      return this.#moves.settle(unit, execution, [...settled, fact], { kind: 'done', output });
    };
    if (!needsPayload(result.output.text)) return record(result.output);
    await scope.counted(() => this.#storing(result.output, record));
    this.#moves.advance();
  }

  async #tryAgain({ unit, execution, settled }: Ended, at: number, error: RecordedError): Promise<void> {
    const scope = this.#scope;
    // It rests before it stops counting: in between nothing would seem to be left to wait for.
    await scope.counted(async () => {
      await scope.append([...settled, drafts.retryScheduled(execution, at, error)], execution);
      this.#moves.rest(keyOf(unit), at);
    });
    this.#moves.advance();
  }

  /** Lets the step wait for what a person says of an outside action; if that has become known meanwhile, it goes on. */
  async #askAbout(ended: Ended, find: () => Promise<Ask | undefined>, error?: RecordedError): Promise<void> {
    const { unit, execution, settled } = ended;
    const scope = this.#scope;
    const asked = await scope.counted(async () => {
      const ask = await find();
      const now = scope.deps.clock.now();
      const wait = ask && effectWait(execution, ask, now);
      if (!ask || !wait || !this.#moves.hasRoomFor(wait)) return false;
      try {
        const { events } = await scope.append([...settled, ...questionDrafts(wait, ask)], execution);
        if (events.length > 0) this.#moves.hold(wait);
        return true;
      } catch (moved) {
        if (moved instanceof EffectMoved) return false;
        throw moved;
      }
    });
    if (asked) return this.#moves.advance();
    const unknown = {
      code: 'EFFECT_IN_DOUBT',
      message: 'an effect is in doubt',
      stepId: unit.step.id,
      retryable: true,
    };
    return this.#tryAgain(ended, scope.deps.clock.now() + ASK_AGAIN_MS, error ?? unknown);
  }

  /** Counts as under way until its record is queued: a drive that must let go waits for it as for a body. */
  async #storing(output: Output, record: (kept: Output) => Promise<void>): Promise<void> {
    this.#beingStored += 1;
    let recorded: Promise<void>;
    try {
      recorded = record(await this.#scope.kept(output));
    } finally {
      this.#beingStored -= 1;
    }
    await recorded;
  }
}
