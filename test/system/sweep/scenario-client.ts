/**
 * Client of the sweep's scenarios on a local cloud: starts their runs and sends their operations over HTTP until each is
 * answered, moves the cloud's clock when all runs wait, and reads their outcome from the store.
 *
 * Must not: kill a process. The test does.
 */
import { Firestore } from '@google-cloud/firestore';
import { verifyChain } from '../../../packages/cairn/src/core/run/chain.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver, isSuccess, type RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { wakeAt } from '../../../packages/cairn/src/core/run/wake.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { control, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { inOrder, type RunOutcome, runOutcome } from '../../sweep/outcome.ts';
import { startOf, viewOf } from '../../sweep/outside.ts';
import type { Operation, Scenario } from '../../sweep/scenario.ts';
import { beginningsOf, notesIn } from './noting-stage.ts';

/** More than the run of any scenario has. */
const MAX_EVENTS = 1_000;
const ANSWER_LIMIT_MS = 5_000;

interface Part {
  readonly scenario: Scenario;
  runId: string;
  state: RunState | undefined;
  /** Operations that were sent: one without an answer may have taken effect, so that nothing in the run asks for it any more. */
  readonly sent: Set<string>;
  readonly answered: Set<string>;
  /** By step and revision. */
  readonly done: Map<string, SeenDone>;
}

/** A success that was read from the store, and how often its body had begun by then. */
export interface SeenDone {
  readonly runId: string;
  readonly key: string;
  readonly begun: number;
}

export class ScenarioClient {
  #ready: Ready;
  #store: FirestoreRunStore;
  #db: Firestore;
  readonly #notes: string;
  readonly #parts: readonly Part[];
  /** Offset of the cloud's clock, ms. */
  #ahead = 0;

  constructor(ready: Ready, notes: string, scenarios: readonly Scenario[]) {
    this.#notes = notes;
    this.#parts = scenarios.map((scenario) => ({
      scenario,
      runId: '',
      state: undefined,
      sent: new Set(),
      answered: new Set(),
      done: new Map(),
    }));
    this.#ready = ready;
    this.#db = firestoreOf(ready);
    this.#store = new FirestoreRunStore(this.#db);
  }

  /** Call it after the cloud was killed and started again. */
  async reconnect(ready: Ready): Promise<void> {
    await this.#db.terminate();
    this.#ready = ready;
    this.#db = firestoreOf(ready);
    this.#store = new FirestoreRunStore(this.#db);
  }

  async close(): Promise<void> {
    await this.#db.terminate();
  }

  async start(): Promise<void> {
    await Promise.all(this.#parts.map((part) => this.#startOne(part)));
  }

  /** Sends what is due. True once all runs are over and all operations were answered. */
  async poll(): Promise<boolean> {
    await Promise.all(this.#parts.map((part) => this.#pollOne(part)));
    const open = this.#parts.filter((part) => !this.#isDone(part));
    if (open.length === 0) return true;
    const states = open.flatMap(({ state }) => state ?? []);
    // Moving the clock while a worker is busy would let its lease expire.
    if (states.length === open.length && states.every(rests)) await this.#moveTime(states);
    return false;
  }

  get unfinished(): string {
    const open = this.#parts.filter((part) => !this.#isDone(part));
    return open.map(({ scenario, state }) => `${scenario.name} (${state?.status})`).join(', ');
  }

  /** The runs of a scenario, in order. */
  async outcome(name: string): Promise<readonly RunOutcome[]> {
    const part = this.#parts.find(({ scenario }) => scenario.name === name);
    const journals = await this.#journalsOf(part?.runId ?? '');
    const runs = await Promise.all([...journals].map(([runId, events]) => this.#outcomeOf(runId, events)));
    return inOrder(runs);
  }

  /** Successful steps of the scenario's main run that were read from the store. */
  done(name: string): readonly SeenDone[] {
    return [...(this.#parts.find(({ scenario }) => scenario.name === name)?.done.values() ?? [])];
  }

  async #outcomeOf(runId: string, events: readonly RunEvent[]): Promise<RunOutcome> {
    const broken = verifyChain(runId, events);
    if (broken) throw new Error(`run ${runId}, event ${broken.seq}: ${broken.problem}`);
    const result = (await this.#store.load(runId))?.state.result;
    return runOutcome(runId, events, result && 'text' in result ? result.text : result);
  }

  /** Journals of the run and its children. */
  async #journalsOf(runId: string, into = new Map<string, RunEvent[]>()): Promise<Map<string, RunEvent[]>> {
    const events = [...(await this.#store.readEvents(runId, 0, MAX_EVENTS))];
    into.set(runId, events);
    for (const event of events) {
      const child = event.type === 'wait_opened' ? event.data.wait.child : undefined;
      if (child) await this.#journalsOf(child.runId, into);
    }
    return into;
  }

  async #startOne(part: Part): Promise<void> {
    const answer = await this.#ask(part, startOf(part.scenario));
    part.runId = String(answer?.runId ?? '');
  }

  async #pollOne(part: Part): Promise<void> {
    if (part.runId === '') return this.#startOne(part);
    part.state = (await this.#store.load(part.runId).catch(() => undefined))?.state ?? part.state;
    this.#noteDone(part);
    const view = viewOf(part.state, {
      // No scenario of the sample has effects.
      asksAboutEffect: false,
      isRunning: (stepId) =>
        notesIn(this.#notes).some(({ runId, key }) => runId === part.runId && key.startsWith(`${stepId}@`)),
      wasAnswered: (operation) => part.answered.has(operation),
    });
    for (const operation of part.scenario.operations ?? []) {
      if (part.answered.has(operation.name)) continue;
      if (part.sent.has(operation.name) || operation.when(view)) await this.#ask(part, operation);
    }
  }

  /** Reads the notes after the store, so that a body that is missing in them began later. */
  #noteDone({ state, runId, done }: Part): void {
    const notes = notesIn(this.#notes);
    for (const [step, record] of state?.steps ?? []) {
      if (record.phase !== 'done' || !isSuccess(record.outcome)) continue;
      const key = `${step}@${record.revision}`;
      if (!done.has(key)) done.set(key, { runId, key, begun: beginningsOf(notes, runId, key) });
    }
  }

  /** The body of the response; undefined if the request has to be repeated. */
  async #ask(part: Part, { name, request }: Operation): Promise<Record<string, unknown> | undefined> {
    const asked = request?.(part.runId);
    if (!asked) throw new Error(`'${name}' of '${part.scenario.name}' has no request`);
    part.sent.add(name);
    try {
      const response = await fetch(this.#ready.gateway + asked.path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.#ready.apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': `${part.scenario.name}-${name}`.replaceAll(' ', '-'),
        },
        body: JSON.stringify(asked.body),
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      });
      if (response.status >= 500 || response.status === 202 || response.status === 429) return undefined;
      const body = (await response.json()) as Record<string, unknown>;
      if (response.status >= 300)
        throw new Refused(`${part.scenario.name}, ${name}: ${JSON.stringify(body)}`);
      part.answered.add(name);
      return body;
    } catch (error) {
      if (error instanceof Refused) throw error;
      return undefined;
    }
  }

  #isDone({ scenario, state, answered }: Part): boolean {
    if (!state || !isOver(state)) return false;
    // An effect in doubt ended the run before all operations were done.
    if (state.error?.code === 'RUN_ORPHANED') return true;
    return (scenario.operations ?? []).every(({ name }) => answered.has(name));
  }

  async #moveTime(states: readonly RunState[]): Promise<void> {
    const now = Date.now() + this.#ahead;
    const times = states.flatMap((state) => (isOver(state) ? [] : (wakeAt(state) ?? [])));
    const ms = Math.min(...times) - now;
    if (!Number.isFinite(ms) || ms < 1_000) return;
    this.#ahead += ms;
    await control(this.#ready, 'POST', '/clock/advance', { ms });
  }
}

/** The API refused the request for good. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** True if no dispatch holds the run and nothing happens before its time. */
function rests(state: RunState): boolean {
  const isWaiting = state.status === 'waiting_external' || state.status === 'awaiting_approval';
  return isOver(state) || (state.lease === undefined && (isWaiting || state.dueAt !== undefined));
}

/** The client reads these variables when it is constructed; without them it searches for credentials. */
function firestoreOf({ projectId, firestore }: Ready): Firestore {
  process.env.METADATA_SERVER_DETECTION ??= 'none';
  process.env.FIRESTORE_EMULATOR_HOST = firestore;
  try {
    return new Firestore({ projectId });
  } finally {
    delete process.env.FIRESTORE_EMULATOR_HOST;
  }
}
