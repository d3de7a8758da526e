/**
 * Performs scenarios on a store that refuses writes: of runs, starts, ledger answers, event mailboxes, plans and the
 * installation's configuration, in each way, once and for as long as ten dispatches take. A refused write is not applied. A
 * caller of the API gets a stable code. Then the store accepts writes again, and everything must end.
 *
 * Must not: compare with the undisturbed performance, because a refused run may fail.
 */
import { toProblem } from '../../packages/cairn/src/core/errors.ts';
import {
  type Mailbox,
  type MailboxAddress,
  mailboxId,
} from '../../packages/cairn/src/core/mailbox/mailbox.ts';
import { isOver } from '../../packages/cairn/src/core/run/state.ts';
import { reviewFindings } from '../../packages/cairn/src/engine/unwritable.ts';
import { asOurs } from '../../packages/cairn/src/http/problem.ts';
import type { StartCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { OutcomeUnknown, StoreRefused } from '../../packages/cairn/src/ports/store-errors.ts';
import { type InterceptedCall, intercept } from '../support/intercept.ts';
import { duplicatesIn } from './judge.ts';
import type { Outcome } from './outcome.ts';
import { NO_ANSWER, START } from './outside.ts';
import { Performance } from './performance.ts';
import type { ProcessDeps } from './process.ts';
import type { Scenario } from './scenario.ts';
import { rehearse } from './sweep.ts';

/** `too_large`: refuses writes with more than one event, or with a step record, and accepts smaller ones. */
export const REFUSALS = ['invalid', 'too_large', 'denied', 'exhausted'] as const;
export type Refusal = (typeof REFUSALS)[number];

export interface RefusalPoint {
  /** Number of the write in the performance, from 0. */
  readonly write: number;
  readonly refusal: Refusal;
  readonly lasts: 'once' | 'ten_dispatches';
}

/** Idempotency records of requests that do not start a run are written by the API alone (`test/api/answers/refused-writes.test.ts`). */
const WRITES = {
  store: ['commit', 'touch', 'writePayload', 'createMemo', 'start'],
  effects: ['change'],
  mailboxes: ['write'],
  planStore: ['create'],
  config: ['write'],
  dayBudgets: ['write'],
} as const;
type Port = keyof typeof WRITES;
const PORTS = Object.keys(WRITES) as readonly Port[];
const MOVES: ReadonlySet<string> = new Set(['store.commit', 'store.touch']);
/** Number of dispatches by which the run must have ended or have a finding. */
const DISPATCHES = 10;
/**
 * Maximum number of refusals. It is below the dispatches in a row that may throw (`performance.ts`), and below the tries of a
 * client whose own request is refused (`outside.ts`). For documents beside the runs, only refusals are counted.
 */
const MAX_REFUSED = 12;
/** Allowed delay over the undisturbed performance: redeliveries, leases, back-off and the minutely scan. */
const DELAY_LIMIT_MS = 90 * 60_000;

export interface RefusalFinding {
  readonly scenario: string;
  readonly point: RefusalPoint;
  readonly why: string;
}

export interface RefusedTotals {
  points: number;
  readonly findings: RefusalFinding[];
}

export interface RefusedOptions {
  /** Interval between the tried points. */
  readonly every?: number;
  /** Tries only writes other than appends to a run: starts, the ledger, and documents beside the runs. */
  readonly withoutMoves?: true;
}

export async function sweepRefusals(
  scenarios: readonly Scenario[],
  { every = 1, withoutMoves }: RefusedOptions = {},
): Promise<RefusedTotals> {
  const totals: RefusedTotals = { points: 0, findings: [] };
  let count = 0;
  for (const scenario of scenarios) {
    const { expected, calls, limitMs } = await rehearse(scenario, { withoutPairs: true });
    const writes = calls.filter((label) => isWrite(label));
    for (const point of pointsOf(writes.length)) {
      if (withoutMoves && MOVES.has(writes[point.write] as string)) continue;
      count += 1;
      if (count % every !== 0) continue;
      totals.points += 1;
      const why = await wrongWith(scenario, point, { expected, limitMs: limitMs + DELAY_LIMIT_MS });
      if (why !== undefined) totals.findings.push({ scenario: scenario.name, point, why });
    }
  }
  return totals;
}

function isWrite(label: string): boolean {
  const [port = '', method = ''] = label.split('.');
  return PORTS.some((known) => known === port && isWriteOf(known, method));
}

function isWriteOf(port: Port, method: string): boolean {
  return WRITES[port].some((known) => known === method);
}

function pointsOf(writes: number): RefusalPoint[] {
  return Array.from({ length: writes }, (_, write) => write).flatMap((write) =>
    REFUSALS.flatMap((refusal) =>
      (['once', 'ten_dispatches'] as const).map((lasts) => ({ write, refusal, lasts })),
    ),
  );
}

/** The expectation that failed; undefined: none. */
async function wrongWith(
  scenario: Scenario,
  point: RefusalPoint,
  { expected, limitMs }: { readonly expected: Outcome; readonly limitMs: number },
): Promise<string | undefined> {
  const hostile = new HostileStore(point);
  const performance = new Performance(scenario, { tamper: (deps) => hostile.before(deps), limitMs });
  hostile.watch(performance);
  await performance.perform();
  if (hostile.unnamed !== undefined) return hostile.unnamed;
  if (performance.failure) return performance.failure.message;
  const { repeated } = performance.stage;
  if (repeated.length > 0) return `ran again although its success was recorded: ${repeated.join(', ')}`;
  const { answers, refusals } = performance.outside;
  const nameless = refusals.filter((error) => codeAtDoor(error) === 'INTERNAL');
  if (nameless.length > 0) return `a door answers without a name: ${String(nameless[0])}`;
  // Every refused request was repeated, and answered once the store accepted writes again.
  const unanswered = [...answers].filter(([, answer]) => answer.startsWith(NO_ANSWER));
  if (unanswered.length > 0) return `never answered: ${unanswered.join(' ')}`;
  if (answers.get(START) !== JSON.stringify(performance.outside.runId)) return 'never started';
  const twice = duplicatesIn(performance, expected);
  if (twice.length > 0) return `took place twice: ${twice.join(', ')}`;
  // The scan does this each minute, but has no more runs here.
  await reviewFindings(performance.world.deps);
  const { findings } = performance.world.db;
  return findings.size > 0 ? `still named after it healed: ${[...findings.keys()].join(', ')}` : undefined;
}

/** The stable code of the error in an answer of the API. */
function codeAtDoor(error: unknown): string {
  return toProblem(asOurs(error)).code;
}

/** Refuses the writes to one run, or to one other document, from the selected write on. */
class HostileStore {
  /** The run that was refused for more than ten dispatches without an end or a finding. */
  unnamed: string | undefined;
  readonly #point: RefusalPoint;
  #performance: Performance | undefined;
  #writes = 0;
  #target: Target | undefined;
  #dispatches = 0;
  #refused = 0;
  #healed = false;

  constructor(point: RefusalPoint) {
    this.#point = point;
  }

  watch(performance: Performance): void {
    this.#performance = performance;
    const { queue } = performance.world;
    const take = queue.take.bind(queue);
    queue.take = (id) => {
      const task = queue.pending.find((pending) => pending.id === id);
      if (task) this.#noteDispatch(task.runId);
      return take(id);
    };
  }

  before(deps: ProcessDeps): ProcessDeps {
    const hostile = PORTS.map((port) => [
      port,
      intercept(deps[port] as object, (call, proceed) =>
        this.#refuses(port, call) ? Promise.reject(this.#refusal()) : proceed(),
      ),
    ]);
    return { ...deps, ...Object.fromEntries(hostile) };
  }

  #noteDispatch(runId: string): void {
    if (runId !== this.#target?.runId || this.#healed) return;
    this.#dispatches += 1;
    if (this.#dispatches <= DISPATCHES) return;
    this.#healed = true;
    const db = this.#performance?.world.db;
    const run = db?.runs.get(runId);
    // With the refusal `exhausted` a run only counts as late: `RUNS_OVERDUE`.
    const isNamed = db?.findings.has(runId) || this.#point.refusal === 'exhausted';
    if (run && !isOver(run.snapshot) && !isNamed)
      this.unnamed = `after ten dispatches ${run.snapshot.status} and unnamed`;
  }

  #refuses(port: Port, call: InterceptedCall): boolean {
    if (!isWriteOf(port, call.method) || this.#healed) return false;
    const target = targetOf(port, call, this.#performance);
    if (this.#target === undefined && this.#writes++ === this.#point.write) {
      this.#target = target;
      if (this.#point.lasts === 'once') this.#healed = true;
      return true;
    }
    if (this.#target?.id !== target.id) return false;
    this.#refused += 1;
    if (this.#refused > MAX_REFUSED) this.#healed = true;
    if (this.#healed) return false;
    return this.#point.refusal !== 'too_large' || isLarge(call);
  }

  #refusal(): Error {
    switch (this.#point.refusal) {
      case 'exhausted':
        return new OutcomeUnknown('write', 'RESOURCE_EXHAUSTED: the quota is used up');
      case 'denied':
        return new StoreRefused('write', 'PERMISSION_DENIED: missing permissions', {
          code: 7,
          reason: 'installation',
        });
      default:
        return new StoreRefused('write', 'INVALID_ARGUMENT: the document is too large', {
          code: 3,
          reason: 'request',
        });
    }
  }
}

interface Target {
  readonly id: string;
  /** Run whose drives meet the refusal. Absent: only API requests do. */
  readonly runId?: string | undefined;
}

function targetOf(
  port: Port,
  { method, args }: InterceptedCall,
  performance: Performance | undefined,
): Target {
  const [first] = args;
  switch (port) {
    case 'store': {
      if (method === 'start') return targetOfStart(first as StartCommit);
      const runId = typeof first === 'string' ? first : (first as { readonly runId: string }).runId;
      return { id: runId, runId };
    }
    case 'effects': {
      const id = first as string;
      return { id, runId: performance?.world.db.effects.get(id)?.record.runId };
    }
    case 'mailboxes': {
      const runIds = (args[1] as Mailbox | undefined)?.waiting.map(({ runId }) => runId);
      return { id: mailboxId(first as MailboxAddress), runId: runIds?.at(-1) };
    }
    default:
      return { id: port };
  }
}

/** Each attempt of a start draws another run id, but the same record. */
function targetOfStart({ events, records }: StartCommit): Target {
  const [created] = events;
  if (created?.type !== 'run_created') throw new Error('a start without its first event');
  return { id: `start ${records[0]?.record.key ?? created.type}`, runId: created.data.parent?.runId };
}

function isLarge({ method, args }: InterceptedCall): boolean {
  if (method !== 'commit') return method !== 'touch';
  const { events, steps } = args[0] as Record<'events' | 'steps', readonly unknown[]>;
  return events.length > 1 || steps.length > 0;
}
