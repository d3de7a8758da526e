/**
 * Consequence of the end of a body: its outcome is recorded, another attempt is scheduled, or an approval asks for the
 * outcome of an effect.
 *
 * Must not: know what else runs, or start anything.
 */
import type { Cost } from '../../../core/budget/budget.ts';
import { optional } from '../../../core/optional.ts';
import type { EventDraft, RecordedError, StepExecution } from '../../../core/run/events.ts';
import { cut, TRACE_CHARS } from '../../../core/run/records.ts';
import { needsPayload } from '../../../core/run/values.ts';
import { EffectMoved } from '../../../journal/run-journal.ts';
import { askAbout, canFindOut, effectWait, questionDrafts } from '../../effects/asking.ts';
import type { EffectAsk } from '../../effects/effect-call.ts';
import * as drafts from '../../facts/drafts.ts';
import type { Output } from '../../facts/output.ts';
import { doubtOf, opened } from '../../waits/open.ts';
import type { BudgetGate } from '../budget-gate.ts';
import type { StepMoves } from '../moves.ts';
import type { Scope } from '../scope.ts';
import { keyOf } from '../step-inputs.ts';
import { sizeOf } from '../waiting/held-waits.ts';
import type { Waiting } from '../waiting/waiting.ts';
import { afterFailure } from './after-failure.ts';
import type { EndedBody } from './bodies.ts';

/** Actions of the drive at the end of a body. */
export interface EndMoves extends Pick<StepMoves, 'settle' | 'rest' | 'advance'> {
  readonly waiting: Pick<Waiting, 'freeBytes' | 'opening' | 'hold'>;
  /** Until an open wait ends, which makes room for a question of so many bytes. */
  readonly restWithoutRoom: (key: string, bytes: number) => void;
  readonly budget: Pick<BudgetGate, 'ended' | 'notRun' | 'stop'>;
}

/** An end, with what the attempt spent of the run's budget; undefined: the run has none. */
type SpentBody = EndedBody & { readonly spent: Cost | undefined };

/** The effect in question has just changed: the next attempt determines its outcome. */
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

  async take(body: EndedBody): Promise<void> {
    const { unit, execution, result, used, settled } = body;
    const { step } = unit;
    const { budget } = this.#moves;
    if (result.kind === 'presumed') budget.notRun(unit);
    const spent = result.kind === 'presumed' ? undefined : budget.ended(body);
    const ended = { ...body, spent };
    const account = optional('spent', spent);
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
        const error =
          next.reason === 'poll_over' ? pollOver(execution, ending.now, result.error) : result.error;
        const fact = drafts.failedByPolicy(ending, error, account);
        return this.#moves.settle(unit, execution, [...settled, fact], drafts.outcomeOf([fact]));
      }
      if (next.kind === 'poll_again')
        return this.#restUntil(ended, next.at, drafts.pollScheduled(execution, next.at, result.error, spent));
      return this.#tryAgain(ended, next.at, result.error);
    }
    if (result.kind === 'asks') {
      const { ask } = result;
      if (ask.why === 'budget') return budget.stop({ ...ended, refusal: ask.refusal });
      return this.#askAbout(ended, async () => ask, undefined);
    }
    if (result.kind === 'presumed') return this.#askWhetherRun(ended);
    const record = (output: Output) => {
      const fact = drafts.done(ending, output, { ...used, ...account, degraded: result.degraded });
      return this.#moves.settle(unit, execution, [...settled, fact], { kind: 'done', output });
    };
    if (!needsPayload(result.output.text)) return record(result.output);
    await scope.counted(() => this.#storing(result.output, record));
    this.#moves.advance();
  }

  #tryAgain(ended: SpentBody, at: number, error: RecordedError): Promise<void> {
    return this.#restUntil(ended, at, drafts.retryScheduled(ended.execution, at, error, ended.spent));
  }

  async #restUntil({ unit, execution, settled }: EndedBody, at: number, fact: EventDraft): Promise<void> {
    const scope = this.#scope;
    // It rests before it stops counting: in between nothing would seem to be left to wait for.
    await scope.counted(async () => {
      await scope.append([...settled, fact], execution);
      this.#moves.rest(keyOf(unit), at);
    });
    this.#moves.advance();
  }

  /** Lets the step wait for the resolution of an effect; if it was resolved meanwhile, the step continues. */
  async #askAbout(
    ended: SpentBody,
    find: () => Promise<EffectAsk | undefined>,
    error?: RecordedError,
  ): Promise<void> {
    const { unit, execution, settled, spent } = ended;
    const scope = this.#scope;
    const { waiting } = this.#moves;
    const why = error ?? {
      code: 'EFFECT_IN_DOUBT',
      message: 'an effect is in doubt',
      stepId: unit.step.id,
      retryable: true,
    };
    const hasMoved = await scope.counted(async () => {
      const ask = await find();
      const now = scope.deps.clock.now();
      if (!ask) return true;
      const wait = effectWait(execution, ask, now);
      const bytes = sizeOf(wait);
      if (bytes > waiting.freeBytes) {
        await scope.append([...settled, drafts.retryWhenRoom(execution, now, why, spent)], execution);
        this.#moves.restWithoutRoom(keyOf(unit), bytes);
        return false;
      }
      const put = [...settled, ...questionDrafts(wait, ask, spent)];
      try {
        const { events } = await waiting.opening(wait, () => scope.append(put, execution));
        if (events.length > 0) waiting.hold(wait);
        return false;
      } catch (moved) {
        if (moved instanceof EffectMoved) return true;
        throw moved;
      }
    });
    if (hasMoved) return this.#tryAgain(ended, scope.deps.clock.now() + ASK_AGAIN_MS, why);
    this.#moves.advance();
  }

  /** A step that must not run twice, and may have run before the database was restored. */
  async #askWhetherRun({ unit, execution, settled }: EndedBody): Promise<void> {
    const scope = this.#scope;
    const { waiting } = this.#moves;
    await scope.counted(async () => {
      const wait = doubtOf(execution, scope.deps.clock.now(), 'restored');
      const bytes = sizeOf(wait);
      if (bytes > waiting.freeBytes) {
        const message = 'it may have run before the restore, and the run cannot hold another question';
        const why = { code: 'EFFECT_IN_DOUBT', message, stepId: unit.step.id, retryable: true };
        await scope.append([...settled, drafts.retryWhenRoom(execution, wait.openedAt, why)], execution);
        this.#moves.restWithoutRoom(keyOf(unit), bytes);
        return;
      }
      const { events } = await waiting.opening(wait, () =>
        scope.append([...settled, opened(wait)], execution),
      );
      if (events.length > 0) waiting.hold(wait);
    });
    this.#moves.advance();
  }

  /** Counts as running until its record is queued: a drive that must release the run waits for it as for a body. */
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

/** The time for polling is over, or it has been asked as often as a run may. */
function pollOver({ startedAt, polls = 0 }: StepExecution, now: number, last: RecordedError): RecordedError {
  const message = `the condition did not hold within ${now - startedAt} ms and ${polls + 1} polls; last result: ${last.message}`;
  return { ...last, code: 'STEP_TIMEOUT', message: cut(message, TRACE_CHARS), retryable: false };
}
