/**
 * The end of a flow: its output or failure as the journal keeps it, or another attempt of its code. Waits that are still
 * open are closed first, since nothing needs their answers.
 */
import { CairnError, Fatal } from '../../../core/errors.ts';
import type { EventDraft, RecordedError, StepExecution, Wait } from '../../../core/run/events.ts';
import type { RunState } from '../../../core/run/state.ts';
import { needsPayload } from '../../../core/run/values.ts';
import { readable } from '../../../core/thrown.ts';
import { isDegraded } from '../../define/body-result.ts';
import type { FlowStep } from '../../define/steps.ts';
import * as drafts from '../../facts/drafts.ts';
import { checked, type Output, outputOf, recorded } from '../../facts/output.ts';
import { resolved } from '../../waits/settle.ts';
import { afterFailure } from '../bodies/after-failure.ts';
import type { GroupMoves } from '../moves.ts';
import type { Scope } from '../scope.ts';

export type CodeEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  /** `code` where the error has one that the cause does not tell. */
  | { readonly kind: 'threw'; readonly cause: unknown; readonly code?: string }
  | { readonly kind: 'diverged'; readonly message: string };

type Result =
  | { readonly kind: 'done'; readonly output: Output; readonly degraded?: string }
  | { readonly kind: 'failed'; readonly cause: unknown; readonly error: RecordedError };

export interface FlowEndParams {
  readonly scope: Scope;
  readonly moves: Pick<GroupMoves, 'settle' | 'rest' | 'giveUp' | 'advance'>;
  readonly step: FlowStep;
  readonly execution: StepExecution;
}

/** Waits that one commit closes: each takes four writes of its 300. */
const CLOSED_AT_ONCE = 50;
const GIVEN_UP = 'the flow ended without it';

export class FlowEnd {
  readonly #params: FlowEndParams;

  constructor(params: FlowEndParams) {
    this.#params = params;
  }

  async record(end: CodeEnd): Promise<void> {
    const { scope, moves } = this.#params;
    await scope.counted(() =>
      end.kind === 'diverged' ? this.#diverged(end.message) : this.#ended(this.#resultOf(end)),
    );
    moves.advance();
  }

  /** The run fails whatever `onFailure` says: recorded results must not be mixed with those of changed code. */
  #diverged(message: string): Promise<void> {
    const stepId = this.#params.step.id;
    const said = `the flow '${stepId}' has diverged: ${message}`;
    return this.#settle(
      drafts.failed(this.#ending(), { code: 'FLOW_DIVERGED', message: said, stepId, retryable: false }),
    );
  }

  #resultOf(end: Exclude<CodeEnd, { kind: 'diverged' }>): Result {
    const { id, returns } = this.#params.step;
    if (end.kind === 'threw') return this.#failed(end.cause, end.code);
    try {
      const { value } = end;
      const returned = isDegraded(value) ? value.value : value;
      const output = outputOf(
        checked({ id, ...(returns && { output: returns }) }, returned),
        `output of step '${id}'`,
      );
      return { kind: 'done', output, ...(isDegraded(value) && { degraded: value.reason }) };
    } catch (thrown) {
      return this.#failed(readable(thrown));
    }
  }

  #failed(thrown: unknown, code?: string): Result {
    const error = recorded(this.#params.step.id, thrown);
    // Errors of ours about a value are final: the code would do the same again.
    const isFinal = thrown instanceof CairnError && thrown.httpStatus < 500;
    const cause = isFinal ? new Fatal(thrown.message, { cause: thrown }) : thrown;
    return { kind: 'failed', cause, error: code === undefined ? error : { ...error, code } };
  }

  async #ended(result: Result): Promise<void> {
    const { scope, moves, step, execution } = this.#params;
    if (result.kind === 'failed') {
      const failed = { kind: 'failed' as const, cause: result.cause, error: result.error };
      const next = afterFailure(scope.deps, { runId: scope.runId, step, execution, now: this.#now }, failed);
      if (next.kind !== 'give_up') {
        await scope.append([drafts.retryScheduled(execution, next.at, result.error)], execution);
        moves.rest(step.id, next.at);
        return;
      }
    }
    // A run that fails keeps what it still asked (lastHandoff).
    if (result.kind === 'done' || step.onFailure.kind !== 'fail') await this.#closeWaits();
    if (result.kind === 'failed') return this.#settle(drafts.failedByPolicy(this.#ending(), result.error));
    const output = needsPayload(result.output.text) ? await scope.kept(result.output) : result.output;
    const fact = drafts.done(this.#ending(), output, { degraded: result.degraded });
    return moves.settle({ step }, execution, [fact], { kind: 'done', output });
  }

  #settle(fact: EventDraft): Promise<void> {
    const { moves, step, execution } = this.#params;
    return moves.settle({ step }, execution, [fact]);
  }

  async #closeWaits(): Promise<void> {
    const { scope, moves, execution } = this.#params;
    for (;;) {
      let closing: readonly Wait[] = [];
      const { events } = await scope.append((state) => {
        closing = this.#openWaits(state).slice(0, CLOSED_AT_ONCE);
        return closing.flatMap((wait) => this.#closed(wait));
      }, execution);
      if (events.length === 0) return;
      for (const wait of closing) await moves.giveUp(wait);
    }
  }

  #openWaits({ waits }: RunState): Wait[] {
    const { stepId, revision } = this.#params.execution;
    return waits.filter(
      ({ execution: of }) => of.stepId === stepId && of.itemKey !== undefined && of.revision === revision,
    );
  }

  #closed(wait: Wait): EventDraft[] {
    const { step } = this.#params;
    // The registration of a child stays until the child has ended.
    const closed: EventDraft = wait.child
      ? { type: 'wait_expired', initiator: 'system', data: { waitId: wait.id } }
      : resolved(wait, { initiator: 'system' });
    return [closed, drafts.skipped({ step, execution: wait.execution, now: this.#now }, GIVEN_UP)];
  }

  #ending() {
    const { step, execution } = this.#params;
    return { step, execution, now: this.#now };
  }

  get #now(): number {
    return this.#params.scope.deps.clock.now();
  }
}
