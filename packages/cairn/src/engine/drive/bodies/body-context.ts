/**
 * The argument of a body: its inputs and its operations. Owns the memos, heartbeats and usage of one attempt.
 *
 * Must not: decide the outcome of the attempt.
 */

import { microUsd } from '../../../core/budget/given.ts';
import { type Json, toJsonText } from '../../../core/encoding/json.ts';
import { CairnError } from '../../../core/errors.ts';
import type { StepExecution } from '../../../core/run/events.ts';
import { CHECKPOINT_VALUE_BYTES, MAX_MEMOS } from '../../../core/run/limits.ts';
import { stepKey } from '../../../core/run/state.ts';
import { messageOf } from '../../../core/thrown.ts';
import { sendUntilKnown } from '../../../journal/send-until-known.ts';
import type { Usage } from '../../define/spending.ts';
import type { Context } from '../../define/steps.ts';
import type { EngineDeps } from '../../deps.ts';
import type { Performer } from '../../effects/performer.ts';
import { parseFrozen, type Used } from '../../recording/output.ts';
import type { KeepLine } from './run-log.ts';
import type { AttemptText } from './run-texts.ts';
import { stepLog } from './step-log.ts';

/** Limit of progress details, which are stored in the snapshot. */
const MAX_PROGRESS_BYTES = 1_024;
const MAX_MEMO_NAME = 200;
const MAX_AGENT_CHARS = 200;

interface BodyParams {
  readonly deps: EngineDeps;
  readonly runId: string;
  readonly execution: StepExecution;
  readonly seen: Context;
  readonly feedback: string | undefined;
  readonly signal: AbortSignal;
  /** Last progress of an earlier attempt; canonical JSON. */
  readonly progressText: string | undefined;
  /** Owner of the memos if it is not the step: a compensation has memos of its own. */
  readonly memosOf?: string;
  /** An earlier attempt may have left memos. */
  readonly mayHaveMemos: boolean;
  readonly perform: Performer['perform'];
  readonly onHeartbeat: (detailsText: string | undefined) => void;
  readonly keepLine: KeepLine;
  readonly text: AttemptText;
}

export class BodyContext {
  readonly #params: BodyParams;
  readonly context: Context;
  #memos: Promise<Map<string, string>> | undefined;
  /** By name: memos that are being made. */
  readonly #making = new Map<string, Promise<string>>();
  #used: Used = {};

  constructor(params: BodyParams) {
    this.#params = params;
    const { deps, runId, execution, seen, feedback, signal, progressText, perform } = params;
    const { stepId, itemKey, attempt, revision } = execution;
    const item = itemKey === undefined ? {} : { itemKey };
    this.context = {
      ...seen,
      runId,
      stepId,
      attempt,
      revision,
      feedback,
      signal,
      progress: progressText === undefined ? undefined : parseFrozen(progressText),
      heartbeat: (details?: Json) => this.#heartbeat(details),
      memo: (name: string, fn: () => unknown) => {
        const made = this.#memo(name, fn);
        // An unhandled rejection would end the process, and with it other runs.
        made.catch((error: unknown) =>
          deps.log.debug('memo_failed', { runId, stepId, ...item, attempt, error: messageOf(error) }),
        );
        return made;
      },
      perform,
      usage: (used: Usage) => this.#use(used),
      log: stepLog({ deps, about: { runId, stepId, ...item, attempt }, keep: params.keepLine }),
      stream: (text: string) => params.text.add(text, deps.clock.now()),
    };
  }

  /** Ends the streamed text with the attempt. */
  endText(isDone: boolean): void {
    this.#params.text.end(isDone, this.#params.deps.clock.now());
  }

  get used(): Used {
    return this.#used;
  }

  #heartbeat(details: Json | undefined): void {
    if (details === undefined) {
      this.#params.onHeartbeat(undefined);
      return;
    }
    const text = toJsonText(details, 'details of a heartbeat');
    if (Buffer.byteLength(text) > MAX_PROGRESS_BYTES) {
      throw new CairnError(
        'PAYLOAD_TOO_LARGE',
        `heartbeat details must have at most ${MAX_PROGRESS_BYTES} bytes`,
      );
    }
    this.#params.onHeartbeat(text);
  }

  async #memo(name: string, fn: () => unknown): Promise<unknown> {
    if (typeof name !== 'string' || name === '' || name.length > MAX_MEMO_NAME) {
      throw new CairnError('INVALID_INPUT', `the name of a memo must be 1 to ${MAX_MEMO_NAME} characters`);
    }
    const { deps, runId, execution } = this.#params;
    const { revision } = execution;
    const step = this.#params.memosOf ?? stepKey(execution);
    const recall = () => sendUntilKnown(deps, () => deps.store.readMemos(runId, step, revision));
    this.#memos ??= this.#params.mayHaveMemos
      ? recall().then((found) => new Map(found))
      : Promise.resolve(new Map());
    const memos = await this.#memos;
    const known = memos.get(name) ?? this.#making.get(name);
    if (known !== undefined) return parseFrozen(await known);
    if (memos.size + this.#making.size >= MAX_MEMOS) {
      throw new CairnError('INVALID_INPUT', `a step can have at most ${MAX_MEMOS} memos`, {
        stepId: execution.stepId,
      });
    }
    // A concurrent call of the same memo shares its value or its error. After an error the next call makes the memo again.
    const made = this.#make(name, fn, memos).finally(() => this.#making.delete(name));
    this.#making.set(name, made);
    return parseFrozen(await made);
  }

  /** Calls the function and records its value. Returns the recorded value. */
  async #make(name: string, fn: () => unknown, memos: Map<string, string>): Promise<string> {
    const { deps, runId, execution } = this.#params;
    const step = this.#params.memosOf ?? stepKey(execution);
    const text = toJsonText(await fn(), `memo '${name}'`);
    if (Buffer.byteLength(text) > CHECKPOINT_VALUE_BYTES) {
      throw new CairnError(
        'PAYLOAD_TOO_LARGE',
        `memo '${name}' has more than ${CHECKPOINT_VALUE_BYTES} bytes`,
      );
    }
    const memo = { step, revision: execution.revision, name, text };
    const recorded = await sendUntilKnown(deps, () => deps.store.createMemo(runId, memo));
    memos.set(name, recorded);
    return recorded;
  }

  /** Refuses values that the journal cannot store, so that the author gets the error. */
  #use({ agent, tokens, usd }: Usage): void {
    if (agent !== undefined && !isShortText(agent))
      throw new CairnError(
        'INVALID_INPUT',
        `the name of an agent must be 1 to ${MAX_AGENT_CHARS} characters`,
      );
    const { input = 0, output = 0 } = tokens ?? {};
    if (!isCount(input) || !isCount(output))
      throw new CairnError('INVALID_INPUT', 'input and output tokens must be integers of at least 0');
    const spent = usd === undefined ? undefined : microUsd(usd, 'usd', 'of at least 0');
    const before = this.#used.tokensUsed ?? { input: 0, output: 0 };
    this.#used = {
      ...this.#used,
      ...(agent === undefined ? {} : { agent }),
      ...(tokens === undefined
        ? {}
        : { tokensUsed: { input: before.input + input, output: before.output + output } }),
      ...(spent === undefined ? {} : { microUsd: (this.#used.microUsd ?? 0) + spent }),
    };
  }
}

function isShortText(name: unknown): boolean {
  return typeof name === 'string' && name !== '' && name.length <= MAX_AGENT_CHARS && name.isWellFormed();
}

function isCount(tokens: unknown): boolean {
  return Number.isSafeInteger(tokens) && (tokens as number) >= 0;
}
