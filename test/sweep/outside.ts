/**
 * All actors outside the installation: starts the run of a scenario and carries out its operations at their times. A request
 * without an answer, or with "try again", is repeated.
 *
 * Must not: reach a run except through the operations of the product.
 */
import { CairnError } from '../../packages/cairn/src/core/errors.ts';
import { type RunState, stepKey } from '../../packages/cairn/src/core/run/state.ts';
import { isOfOtherRun } from '../../packages/cairn/src/engine/other-run.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import { OutcomeUnknown, StoreRefused } from '../../packages/cairn/src/ports/store-errors.ts';
import type { Process, ProcessDeps } from './process.ts';
import type { Receiver } from './receiver.ts';
import type { Operation, Scenario, View } from './scenario.ts';
import type { VirtualStage } from './stage.ts';

const TENANT = 't1';
export const START = 'start';
/** Prefix of the recorded answer if none with a code came. */
export const NO_ANSWER = 'no answer:';
/** Time a client waits before it repeats an unanswered request. */
const AGAIN_MS = 1_000;
/** Tries after which a client without a definite answer gives up. */
const MAX_TRIES = 20;

/** The current state of the runs. */
export interface Runs {
  /** The main run of the scenario. */
  readonly main: RunState | undefined;
  readonly all: readonly RunState[];
}

interface Acting {
  readonly operation: Operation;
  /** The process that serves its request. */
  by?: Process;
  notBefore: number;
  /** True once its time has come: it is then carried out, whatever the state of the run. */
  due: boolean;
  tries: number;
  answer?: string;
}

export class Outside {
  /** Empty before the run was started. */
  runId = '';
  /** Errors of refused requests, including repeated ones. */
  readonly refusals: unknown[] = [];
  readonly #acting: readonly Acting[];
  readonly #stage: VirtualStage;
  readonly #receiver: Receiver;

  constructor(
    scenario: Scenario,
    { stage, receiver }: { stage: VirtualStage; receiver: Receiver },
    now: number,
  ) {
    this.#stage = stage;
    this.#receiver = receiver;
    const operations = [startOf(scenario), ...(scenario.operations ?? [])];
    this.#acting = operations.map((operation) => ({
      operation,
      notBefore: now + (operation.atMs ?? 0),
      due: false,
      tries: 0,
    }));
  }

  /** Responses in the order of the script; operations that never ran are absent. */
  get answers(): ReadonlyMap<string, string> {
    return new Map(
      this.#acting.flatMap(({ operation, answer }) =>
        answer === undefined ? [] : [[operation.name, answer]],
      ),
    );
  }

  /** Names of required operations without an answer. */
  get open(): string[] {
    return this.#acting.flatMap(({ operation: { name, onlyDisturbed }, answer }) =>
      answer === undefined && !onlyDisturbed ? [name] : [],
    );
  }

  /** True if an operation waits for an answer, or will be repeated. */
  get isBusy(): boolean {
    return this.#acting.some(({ due, answer }) => due && answer === undefined);
  }

  /** The next time at which a waiting operation acts. */
  nextAt(now: number): number | undefined {
    const times = this.#acting.flatMap(({ by, answer, notBefore }) =>
      by === undefined && answer === undefined && notBefore > now ? [notBefore] : [],
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Starts the first operation whose time has come; false if there is none. */
  act(process: Process, now: number, { main, all }: Runs): boolean {
    const view = this.#view(main, all);
    const next = this.#acting.find(
      (acting) =>
        acting.by === undefined &&
        acting.answer === undefined &&
        acting.notBefore <= now &&
        // An operation cannot know a run before its start was answered.
        (this.runId !== '' || acting.operation.name === START) &&
        (acting.due || acting.operation.when(view)),
    );
    if (!next) return false;
    next.due = true;
    void this.#carryOut(next, process);
    return true;
  }

  /** Repeats requests of a process that died. */
  giveUp(process: Process, notBefore: number): void {
    for (const acting of this.#acting) {
      if (acting.by !== process) continue;
      delete acting.by;
      acting.notBefore = notBefore;
    }
  }

  async #carryOut(acting: Acting, process: Process): Promise<void> {
    const { name, act } = acting.operation;
    acting.by = process;
    acting.tries += 1;
    const { runId } = this;
    const [stage, receiver] = [this.#stage, this.#receiver];
    const result = await process
      .run((deps) => act({ deps, tenantId: TENANT, runId, stage, receiver }))
      .then(
        (answer) => ({ answer, error: undefined }),
        (error: unknown) => ({ answer: undefined, error }),
      );
    // The request was given up meanwhile, or is being repeated.
    if (acting.by !== process) return;
    delete acting.by;
    const { answer, error } = result;
    if (error !== undefined) this.refusals.push(error);
    if (error !== undefined && isPassing(error) && acting.tries < MAX_TRIES) {
      acting.notBefore = process.deps.clock.now() + AGAIN_MS;
      return;
    }
    if (name === START && error === undefined) this.runId = String(answer);
    acting.answer = error === undefined ? JSON.stringify(answer ?? null) : codeOf(error);
  }

  #view(run: RunState | undefined, all: readonly RunState[]): View {
    const answers = this.answers;
    return viewOf(run, {
      asksAboutEffect: all.some(
        ({ status, waits }) =>
          status === 'awaiting_approval' && waits.some(({ effectId }) => effectId !== undefined),
      ),
      isRunning: (stepId) => this.#stage.isRunning(stepId),
      wasAnswered: (operation) => answers.has(operation),
    });
  }
}

/** Observable state of a run and of its surroundings. */
export function viewOf(
  run: RunState | undefined,
  known: Pick<View, 'isRunning' | 'wasAnswered' | 'asksAboutEffect'>,
): View {
  return {
    run,
    waitsAt: (stepId) =>
      run?.waits.some(({ execution }) => [execution.stepId, stepKey(execution)].includes(stepId)) ?? false,
    hasDone: (stepId) => run?.steps.get(stepId)?.phase === 'done',
    ...known,
  };
}

export function startOf({ name, start }: Scenario): Operation {
  return {
    name: START,
    when: () => true,
    act: ({ deps }) => startOnce(deps, start.type, start.input ?? {}, `api:sweep:${name}`),
    request: () => ({ path: '/v1/runs', body: { type: start.type, input: start.input ?? {} } }),
  };
}

async function startOnce(deps: ProcessDeps, type: string, input: unknown, key: string): Promise<string> {
  const workflow = deps.registry.newest(type);
  if (!workflow) throw new Error(`no workflow '${type}'`);
  const outcome = await startRun(deps, {
    tenantId: TENANT,
    environment: 'test',
    workflow,
    input,
    trigger: { source: 'api', userId: 'c.dev' },
    source: 'api',
    key,
    requestHash: `${type} ${JSON.stringify(input)}`,
  });
  if (outcome.kind === 'in_flight') throw new CairnError('UNAVAILABLE', 'in flight');
  return outcome.runId;
}

/** Returns true for errors that API clients see as 503, as does the queue: the same request is sent again. */
export function isPassing(error: unknown): boolean {
  // The API answers STORE_REFUSED if the store refuses a write. A client repeats that too.
  if (error instanceof OutcomeUnknown || error instanceof StoreRefused || isOfOtherRun(error)) return true;
  return error instanceof CairnError && error.code === 'UNAVAILABLE';
}

/** The code of an error. One without a code must never be an answer; the judge reports it as a difference. */
function codeOf(error: unknown): string {
  return error instanceof CairnError ? error.code : `${NO_ANSWER} ${String(error)}`;
}
