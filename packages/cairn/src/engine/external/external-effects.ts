/**
 * `effects.once`: an effect of any function through the ledger of the engine (engine/effects), without a run. The row itself
 * (ledger.ts) serves as lease and journal.
 *
 * Must not: decide how a row is handled; core/effects does.
 */
import { type Backoff, backoffBoundMs, nextRetry, type RetryPolicy } from '../../core/decisions/retry.ts';
import { durationText } from '../../core/duration.ts';
import {
  EXTERNAL_PLACE,
  externalOwner,
  isExternalKey,
  isExternalTenant,
} from '../../core/effects/external.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import { LeaseLost } from '../../journal/run-journal.ts';
import { pause } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { RuntimeConfigReader } from '../../ports/runtime-config.ts';
import { CONFIG_AGE_MS, stoppedBy } from '../admission.ts';
import type { Bindings } from '../define/bindings.ts';
import { type Capability, leavesRows } from '../define/capability.ts';
import { abortOf, act } from '../effects/act.ts';
import { type ActEnd, type AliveCalls, type EffectAsk, retryable } from '../effects/effect-call.ts';
import { type CheckedRequest, checkedRequest, type EffectOwner, responseOf } from '../effects/rows.ts';
import { effectOutcome } from '../tracing/ends.ts';
import { EffectPending } from './errors.ts';
import { CallUnderWay, ExternalLedger, type ExternalLedgerOptions, RowMoved } from './ledger.ts';

interface ExternalEffectsDeps {
  readonly ledger: ExternalLedgerOptions['deps'];
  readonly runtime: RuntimeConfigReader;
  readonly bindings: Bindings;
  /** Counts outcomes; absent: they are not counted. */
  readonly metrics?: Pick<Metrics, 'effect'> | undefined;
}

interface ExternalSettings {
  /** A call is aborted after this time, ms. */
  readonly callTimeoutMs: number;
  /** Time in ms for which the rows of a key are kept after their last change; absent: they are not deleted. */
  readonly keepMs?: number | undefined;
  /**
   * Retries of calls that did not take effect, or whose outcome can be looked up. `capMs` also limits waits until a receiver's
   * `retryAt`: after a later time, the next call with the key acts.
   */
  readonly retry: RetryPolicy;
}

export interface OnceRequest {
  readonly tenantId: string;
  /** The same for every attempt of this action, and different from all other actions of the tenant. */
  readonly key: string;
  readonly capability: Capability;
  readonly request: unknown;
  /** Earliest time at which this action can have been requested; epoch ms. Absent: at any time. */
  readonly since?: number | undefined;
  readonly signal: AbortSignal;
}

/** Pauses between checks of a call that another process makes, ms. */
const CHECK_BACKOFF: Backoff = { initialMs: 100, factor: 2, capMs: 2_000 };
/** Maximum number of rounds in which another process wrote first. */
const MAX_MOVES = 50;
/** Time for a call to end after its abort; then its caller is answered without it. */
const END_MS = 5_000;

interface ExternalCall {
  readonly once: OnceRequest;
  readonly request: CheckedRequest;
  readonly owner: EffectOwner;
  readonly restoredAt: number | undefined;
  readonly ledger: ExternalLedger;
}

type FailedAct = Extract<ActEnd, { kind: 'not_applied' | 'doubt' }>;
type RoundEnd = ActEnd | { readonly kind: 'under_way' } | { readonly kind: 'again' };

export class ExternalEffects {
  readonly #deps: ExternalEffectsDeps;
  readonly #settings: ExternalSettings;
  readonly #alive: AliveCalls = new Map();

  constructor(deps: ExternalEffectsDeps, settings: ExternalSettings) {
    this.#deps = deps;
    this.#settings = settings;
  }

  /**
   * The response of the action, made now or recorded before.
   *
   * @throws EffectPending, EffectForbidden; NotApplied: it did not take effect; Fatal if a schema refuses the request or the
   * response; CairnError INVALID_INPUT, EFFECT_REQUEST_MISMATCH, UNAVAILABLE; the reason of the signal
   */
  async once(once: OnceRequest): Promise<unknown> {
    assertOnce(once);
    const request = checkedRequest(once.capability, once.request);
    const restoredAt = await this.#restoredAt(once);
    const id = externalOwner(once.tenantId, once.key);
    const owner: EffectOwner = {
      id,
      tenantId: once.tenantId,
      rootRunId: id,
      epoch: 0,
      createdAt: once.since ?? 0,
      effects: [],
      steps: new Map(),
    };
    const { callTimeoutMs, keepMs } = this.#settings;
    const options = {
      deps: this.#deps.ledger,
      owner,
      requestHash: request.hash,
      alive: this.#alive,
      callTimeoutMs,
      keepMs,
    };
    const place = { once, request, owner, restoredAt, ledger: new ExternalLedger(options) };
    const text = await this.#untilAnswered(place);
    return responseOf(once.capability, text);
  }

  /** Checks E8 and the switches of operators. @throws CairnError UNAVAILABLE */
  async #restoredAt({ since }: OnceRequest): Promise<number | undefined> {
    const { runtime } = this.#deps;
    let config = await runtime.current(CONFIG_AGE_MS);
    if (stoppedBy(config)) config = await runtime.current(0);
    const stopped = stoppedBy(config);
    if (stopped)
      throw new CairnError('UNAVAILABLE', 'no effect is made: operators have stopped the installation', {
        details: { why: stopped },
      });
    const at = config.restore?.at;
    return at !== undefined && (since === undefined || since < at) ? at : undefined;
  }

  async #untilAnswered(place: ExternalCall): Promise<string> {
    const { once } = place;
    const { clock } = this.#deps.ledger;
    let failures = 0;
    let moves = 0;
    let checks = 0;
    for (;;) {
      once.signal.throwIfAborted();
      const end = await this.#round(place, failures + 1);
      this.#count(once, end);
      switch (end.kind) {
        case 'under_way':
          checks += 1;
          await pause(clock, backoffBoundMs(CHECK_BACKOFF, checks), once.signal);
          break;
        case 'again':
        case 'stopped':
          moves += 1;
          if (moves > MAX_MOVES)
            throw new CairnError('UNAVAILABLE', 'too many concurrent writes to an effect');
          break;
        case 'answered':
          return end.text;
        case 'mismatch':
          throw mismatchOf(end.cause);
        case 'denied':
          throw end.cause;
        case 'ask':
          // Only runs have a budget.
          if (end.ask.why === 'budget') throw new Error('an effect without a run met a budget');
          await this.#ask(place, end.ask);
          break;
        case 'not_applied':
        case 'doubt':
          failures += 1;
          await this.#pauseBeforeRetry(place, end, failures);
      }
    }
  }

  /** @throws NotApplied, EffectPending if there is no other attempt */
  async #pauseBeforeRetry(place: ExternalCall, end: FailedAct, failures: number): Promise<void> {
    const { once, ledger } = place;
    const { clock } = this.#deps.ledger;
    // If no lookup can resolve the doubt, the next round asks a person, unless the call may still act.
    if (end.kind === 'doubt' && !this.#canFindOut(once) && ledger.hasEnded) return;
    const at = this.#retryAt(end, failures);
    if (at !== undefined && !once.signal.aborted) return pause(clock, at - clock.now(), once.signal);
    if (end.kind === 'not_applied') throw end.cause;
    if (ledger.effectId === undefined) throw noAnswer(end.cause);
    await ledger.leaveInDoubt();
    throw pendingDoubt(place, ledger.effectId, end.cause);
  }

  #count({ tenantId, capability: { id: capabilityId } }: OnceRequest, end: RoundEnd): void {
    if (end.kind === 'under_way' || end.kind === 'again') return;
    const outcome = effectOutcome(end);
    if (outcome) this.#deps.metrics?.effect({ tenantId, capabilityId, outcome });
  }

  #canFindOut({ capability }: OnceRequest): boolean {
    return this.#deps.bindings.canFindOut(capability.id);
  }

  /** Time of the next attempt in this call; undefined if there is none, or if a later call makes it. */
  #retryAt(end: FailedAct, attempt: number): number | undefined {
    const { clock, random } = this.#deps.ledger;
    const error = end.kind === 'not_applied' ? retryable(end.cause) : end.cause;
    const decision = nextRetry({
      policy: this.#settings.retry,
      attempt,
      random: random.unit(),
      now: clock.now(),
      error,
    });
    if (decision.kind === 'give_up') return undefined;
    // A longer wait is left to a later call, because the waiting function is billed and may be killed.
    return decision.at - clock.now() > this.#settings.retry.capMs ? undefined : decision.at;
  }

  /** Checks the rows once, and carries out what follows. */
  async #round(place: ExternalCall, attempt: number): Promise<RoundEnd> {
    const { once, ledger } = place;
    const { clock } = this.#deps.ledger;
    const calls = new AbortController();
    const stop = () => calls.abort(once.signal.reason);
    once.signal.addEventListener('abort', stop, { once: true });
    const cancelTimer = clock.timer(this.#settings.callTimeoutMs, () =>
      calls.abort(new Error(`the call did not end within ${durationText(this.#settings.callTimeoutMs)}`)),
    );
    try {
      const acting = this.#act(place, attempt, calls.signal);
      // A binding that ignores its signal must not block its caller for ever; the row stays in doubt.
      return await Promise.race([acting, this.#givenUp(calls.signal, acting)]);
    } catch (error) {
      if (error instanceof CallUnderWay) return { kind: 'under_way' };
      if (error instanceof RowMoved) return { kind: 'again' };
      if (!(error instanceof LeaseLost)) throw error;
      await ledger.giveBack();
      return { kind: 'again' };
    } finally {
      cancelTimer();
      once.signal.removeEventListener('abort', stop);
      ledger.noteEnd();
    }
  }

  #act({ once, request, owner, restoredAt, ledger }: ExternalCall, attempt: number, signal: AbortSignal) {
    const { capability, key } = once;
    const startedAt = ledger.deps.clock.now();
    const execution = {
      ...EXTERNAL_PLACE,
      kind: 'step' as const,
      attempt,
      inputsHash: request.hash,
      startedAt,
    };
    return act({
      deps: ledger.deps,
      caller: { state: owner, execution, capability, binding: this.#deps.bindings.of(capability) },
      request,
      call: key,
      undo: false,
      mayAsk: false,
      restoredAt,
      mayHaveRows: true,
      alive: this.#alive,
      signal,
      append: ledger.append,
      note: () => {},
    });
  }

  async #givenUp(signal: AbortSignal, acting: Promise<unknown>): Promise<ActEnd> {
    const { clock } = this.#deps.ledger;
    const ended = acting.then(noop, noop);
    await Promise.race([ended, abortOf(signal)]);
    if (signal.aborted) await Promise.race([ended, pause(clock, END_MS)]);
    return { kind: 'doubt', cause: signal.reason, settled: [] };
  }

  /** @throws EffectPending once the question is written */
  async #ask(
    { owner, ledger }: ExternalCall,
    { effectId, capabilityId, why, write }: EffectAsk,
  ): Promise<void> {
    try {
      await ledger.write(write);
    } catch (error) {
      if (!(error instanceof RowMoved)) throw error;
      return;
    }
    const what =
      why === 'doubt' ? `the outcome of '${capabilityId}' is unknown` : `'${capabilityId}' needs permission`;
    throw new EffectPending({ why, effectId, owner: owner.id, what });
  }
}

function noop(): void {}

function pendingDoubt({ once, owner }: ExternalCall, effectId: string, cause: unknown): EffectPending {
  const what = `the outcome of '${once.capability.id}' is not known yet`;
  return new EffectPending({ why: 'doubt', effectId, owner: owner.id, what, cause });
}

/** The error if no row is known to exist, so that no call was made. */
function noAnswer(cause: unknown): CairnError {
  const help = 'Call again with the same key: it is safe at any time.';
  return new CairnError('UNAVAILABLE', 'the ledger did not respond in time', { help, cause });
}

function mismatchOf({ message, details }: CairnError): CairnError {
  return new CairnError('EFFECT_REQUEST_MISMATCH', message, {
    field: 'key',
    help: 'Under one key there is one request: give another action another key.',
    details,
  });
}

/** @throws CairnError INVALID_INPUT */
function assertOnce({ tenantId, key, capability, since }: OnceRequest): void {
  const refuse = (field: string, what: string) => {
    throw invalidInput(field, what);
  };
  if (!isExternalKey(key)) refuse('key', 'the key must be 1 to 200 visible ASCII characters');
  if (!isExternalTenant(tenantId))
    refuse('tenantId', 'the tenant must be 1 to 200 characters without lone surrogates');
  if (since !== undefined && !Number.isFinite(since)) refuse('since', 'since must be a valid time');
  if (!leavesRows(capability))
    refuse(
      'capability',
      `'${capability.id}' has the side effects '${capability.sideEffects}': call it directly`,
    );
}
