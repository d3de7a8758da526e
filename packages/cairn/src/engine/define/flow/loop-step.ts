/**
 * Makes a loop: a flow whose code is given here. Each turn is an operation `turn`, `turn.2` … that returns the next state, and each
 * pause between two turns an operation `pause`. The code goes on after the last turn that the journal has, so resuming costs
 * one read however many turns there were.
 */
import { parseDuration } from '../../../core/duration.ts';
import { toJsonText } from '../../../core/encoding/json.ts';
import { Fatal, OperationFailed } from '../../../core/errors.ts';
import { numberedName, PAUSE, TURN } from '../../../core/flow/names.ts';
import { CHECKPOINT_VALUE_BYTES } from '../../../core/run/limits.ts';
import { assertFits } from '../../../core/run/values.ts';
import { checked, parseFrozen } from '../../facts/output.ts';
import { isDegraded } from '../body-result.ts';
import { isRecord } from '../known-options.ts';
import { bodyPart, common, type Given, required, type StepName, stepError } from '../step-options.ts';
import type * as steps from '../steps.ts';
import { flowStep } from './flow-step.ts';
import type { Flow, LoopOptions } from './types.ts';

/** Most turns of a loop: with a pause after each, as many operations as a run has room for. */
export const MAX_TURNS = 5_000;
/** Largest state, in bytes of JSON: what a checkpoint carries, so that a turn never costs more than its three writes. */
export const MAX_STATE_BYTES = CHECKPOINT_VALUE_BYTES;

type Options = LoopOptions<unknown, Record<never, never>, unknown>;

/** Names that only the functions of a loop have. */
const RESERVED = ['state', 'turn'] as const;
const OF_THE_LOOP = ['needs', 'reads', 'when', 'ifSkipped', 'resumable', 'onFailure', 'uses'] as const;
const OF_A_TURN = ['retry', 'poll', 'timeout', 'heartbeatTimeout', 'uses', 'estimate', 'output'] as const;

/** @throws CairnError INVALID_INPUT naming the option and the forms that are valid */
export function loopStep(name: StepName, options: Given, more: unknown): steps.FlowStep {
  common('loop', name, options);
  if (more !== undefined) {
    throw stepError(name, `takes its body as an option: { …, body: async ({ state }) => next }`);
  }
  const { needs = {}, compensate } = options;
  const hidden = RESERVED.find((own) => isRecord(needs) && Object.hasOwn(needs, own));
  if (hidden !== undefined) {
    throw stepError(
      name,
      `a need of a loop cannot be named '${hidden}': the name is reserved in the functions of a loop`,
    );
  }
  for (const option of ['state', 'while', 'body']) required(name, options, option);
  assertMax(name, options.max);
  assertPause(name, options.pause);
  const turn = only(options, OF_A_TURN);
  bodyPart(name, turn, options.body);
  const loop = options as unknown as Options;
  return {
    ...flowStep(
      name,
      {
        ...only(options, OF_THE_LOOP),
        ...(compensate === undefined ? {} : { compensate: { [TURN]: compensate } }),
      },
      (flow: Flow<unknown>, seen: steps.Context, after?: steps.LastTurn) =>
        new Turns({ id: name.id, loop, turn, flow, seen }).run(after),
    ),
    loop: loop.output ? { state: loop.output } : {},
  };
}

interface TurnsParams {
  readonly id: string;
  readonly loop: Options;
  /** Options of the operation of a turn. */
  readonly turn: Given;
  readonly flow: Flow<unknown>;
  readonly seen: steps.Context;
}

/** The code of a loop, in one dispatch. */
class Turns {
  readonly #params: TurnsParams;

  constructor(params: TurnsParams) {
    this.#params = params;
  }

  async run(after: steps.LastTurn | undefined): Promise<unknown> {
    const { loop, flow, seen } = this.#params;
    let { turn, state } = after ?? { turn: 0, state: this.#initial() };
    while (this.#goesOn(turn, state)) {
      if (turn >= loop.max) throw this.#tooMany();
      if (turn > 0 && loop.pause !== undefined) {
        const { pause } = loop;
        const time = typeof pause === 'function' ? pause({ ...seen, state, turn } as never) : pause;
        await flow.sleep(PAUSE, time);
      }
      turn += 1;
      state = await this.#turn(turn, state);
    }
    return state;
  }

  #initial(): unknown {
    const { id, loop, seen } = this.#params;
    const { output } = loop;
    const state = checked({ id, ...(output && { output }) }, loop.state(seen as never));
    return parseFrozen(this.#textOf(state, 'before its first turn'));
  }

  #goesOn(turn: number, state: unknown): boolean {
    const { id, loop, seen } = this.#params;
    const goesOn: unknown = loop.while({ ...seen, state, turn } as never);
    if (typeof goesOn === 'boolean') return goesOn;
    const what = goesOn instanceof Promise ? 'a promise' : typeof goesOn;
    throw new Fatal(`'while' of the loop '${id}' must return true or false, not ${what}`);
  }

  #turn(turn: number, state: unknown): Promise<unknown> {
    const { loop, flow, turn: options } = this.#params;
    const body = async (context: object) => {
      const returned = await loop.body({ ...context, state, turn } as never);
      this.#textOf(isDegraded(returned) ? returned.value : returned, `after turn ${turn}`);
      return returned;
    };
    return flow.step(TURN, body as never, options as never);
  }

  /** @throws CairnError PAYLOAD_TOO_LARGE, INVALID_INPUT */
  #textOf(state: unknown, when: string): string {
    const what = `the state of the loop '${this.#params.id}' ${when}`;
    const text = toJsonText(state, what);
    assertFits(text, what, MAX_STATE_BYTES);
    return text;
  }

  #tooMany(): Error {
    const { id, loop } = this.#params;
    const message = `the loop '${id}' is not over after its ${loop.max} turns ('max')`;
    return new OperationFailed(numberedName(TURN, loop.max), 'LOOP_LIMIT_REACHED', message);
  }
}

function assertMax(name: StepName, max: unknown): void {
  if (Number.isSafeInteger(max) && (max as number) >= 1 && (max as number) <= MAX_TURNS) return;
  throw stepError(
    name,
    `'max' is the most turns it may take: an integer from 1 to ${MAX_TURNS}, such as max: 100`,
  );
}

function assertPause(name: StepName, pause: unknown): void {
  if (pause === undefined || typeof pause === 'function') return;
  if (typeof pause !== 'string' && typeof pause !== 'number') {
    throw stepError(
      name,
      `'pause' is a duration, such as '12h', or a function of the state that returns one`,
    );
  }
  parseDuration(pause, `${name.id}.pause`);
}

function only(options: Given, names: readonly string[]): Given {
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}
