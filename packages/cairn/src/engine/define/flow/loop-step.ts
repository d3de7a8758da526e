/**
 * Makes a loop: a flow whose code is given here. Each turn is an operation `turn`, `turn.2` … that returns the next state, and each
 * pause between two turns an operation `pause`. The code continues after the last turn that the journal has, so resuming costs
 * one read however many turns there were. A long loop continues in parts: operations `part`, `part.2` … that are child runs of the
 * workflow in loop-part.ts.
 */
import { toJsonText } from '../../../core/encoding/json.ts';
import { Fatal, OperationFailed } from '../../../core/errors.ts';
import { numberedName, PART, PAUSE, TURN } from '../../../core/flow/names.ts';
import { loopMove, MAX_TURNS, MAX_TURNS_IN_A_RUN, partType } from '../../../core/flow/parts.ts';
import { isRecord } from '../../../core/is-record.ts';
import { CHECKPOINT_VALUE_BYTES } from '../../../core/run/limits.ts';
import { assertFits } from '../../../core/run/values.ts';
import { checked, parseFrozen } from '../../recording/output.ts';
import { isDegraded } from '../body-result.ts';
import {
  bodyPart,
  common,
  durationOf,
  required,
  type StepName,
  stepError,
  type UncheckedOptions,
} from '../step-options.ts';
import type * as steps from '../steps.ts';
import { flowStep } from './flow-step.ts';
import type { Flow, LoopOptions } from './types.ts';

/** Largest state, in bytes of JSON: what a checkpoint carries, so that a turn never costs more than its three writes. */
export const MAX_STATE_BYTES = CHECKPOINT_VALUE_BYTES;

type Options = LoopOptions<unknown, Record<never, never>, unknown>;

/** Names that only the functions of a loop have. */
const RESERVED = ['state', 'turn'] as const;
const LOOP_OPTIONS = ['needs', 'reads', 'when', 'ifSkipped', 'resumable', 'onFailure', 'uses'] as const;
const TURN_OPTIONS = ['retry', 'poll', 'timeout', 'heartbeatTimeout', 'uses', 'estimate', 'output'] as const;
const UNDO_OPTIONS = ['retry', 'timeout'] as const;

/** @throws CairnError INVALID_INPUT naming the option and the forms that are valid */
export function loopStep(name: StepName, options: UncheckedOptions, more: unknown): steps.FlowStep {
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
  assertMax(name, options);
  assertPause(name, options.pause);
  const turn = only(options, TURN_OPTIONS);
  bodyPart(name, turn, options.body);
  const loop = options as unknown as Options;
  const step = flowStep(
    name,
    {
      ...only(options, LOOP_OPTIONS),
      ...(compensate === undefined
        ? {}
        : { compensate: { [TURN]: { undo: compensate, ...only(options, UNDO_OPTIONS) } } }),
    },
    (flow: Flow<unknown>, seen: steps.Context, start: steps.LoopStart) =>
      new LoopTurns({ name, needs: step.needs, loop, turn, flow, seen, start }).run(),
  );
  const part: steps.FlowStep['code'] = (flow, { input }, start) => {
    if (!start) throw new Error(`the part of the loop '${name.id}' has no position to continue from`);
    const given = input as PartInput;
    const seen = seenByPart(step.needs, given);
    return new LoopTurns({ name, needs: step.needs, loop, turn, flow, seen, start }).runPart(given);
  };
  return {
    ...step,
    loop: { part, isLong: loop.max > MAX_TURNS_IN_A_RUN ? true : undefined, state: loop.output },
  };
}

export interface PartInput {
  /** The input that the loop reads. */
  readonly input?: unknown;
  /** Outputs of the steps that the loop needs, by step id, because the names in the code may change. */
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly feedback?: string | undefined;
  /** State after the completed turns. */
  readonly state?: unknown;
  readonly turn: number;
}

export interface PartOutput {
  readonly state: unknown;
  readonly turn: number;
  /** True if the condition no longer holds. */
  readonly isOver: boolean;
}

function seenByPart(needs: steps.FlowStep['needs'], { input, outputs, feedback }: PartInput): steps.Context {
  return {
    ...Object.fromEntries(Object.entries(needs).map(([name, id]) => [name, outputs[id]])),
    input,
    ...(feedback === undefined ? {} : { feedback }),
  };
}

interface LoopTurnsParams {
  readonly name: StepName;
  /** Name in the body → id of the step. */
  readonly needs: steps.FlowStep['needs'];
  readonly loop: Options;
  readonly turn: UncheckedOptions;
  readonly flow: Flow<unknown>;
  readonly seen: steps.Context;
  readonly start: steps.LoopStart;
}

/** The code of a loop or of one of its parts, in one dispatch. */
class LoopTurns {
  readonly #params: LoopTurnsParams;

  constructor(params: LoopTurnsParams) {
    this.#params = params;
  }

  async run(): Promise<unknown> {
    const { start, loop } = this.#params;
    let { hasParts } = start;
    let { turn, state, isOver = false }: steps.LastTurn = start.last ?? { turn: 0, state: this.#initial() };
    while (!isOver && this.#continues(turn, state)) {
      const move = loopMove({ ...start, turn, from: undefined, max: loop.max, hasParts });
      if (move === 'limit') throw this.#tooMany();
      if (move === 'part') {
        hasParts = true;
        ({ turn, state, isOver } = await this.#part(turn, state));
      } else {
        await this.#pause(turn, state);
        turn += 1;
        state = await this.#turn(turn, state);
      }
    }
    return state;
  }

  async runPart(given: PartInput): Promise<PartOutput> {
    const { start, loop } = this.#params;
    const from = given.turn;
    let turn = from + (start.last?.turn ?? 0);
    let state = start.last ? start.last.state : given.state;
    while (this.#continues(turn, state)) {
      if (loopMove({ ...start, turn, from, max: loop.max }) === 'return')
        return { state, turn, isOver: false };
      await this.#pause(turn, state);
      turn += 1;
      state = await this.#turn(turn, state);
    }
    return { state, turn, isOver: true };
  }

  async #pause(turn: number, state: unknown): Promise<void> {
    const { loop, flow, seen } = this.#params;
    const { pause } = loop;
    if (turn === 0 || pause === undefined) return;
    const time = typeof pause === 'function' ? pause({ ...seen, state, turn } as never) : pause;
    await flow.sleep(PAUSE, time);
  }

  async #part(turn: number, state: unknown): Promise<PartOutput> {
    const { name, needs, flow, seen } = this.#params;
    const { feedback } = flow;
    const given: PartInput = {
      input: seen.input,
      outputs: Object.fromEntries(Object.entries(needs).map(([need, id]) => [id, seen[need]])),
      feedback,
      state,
      turn,
    };
    const result = await flow.child<{ part: PartOutput }>(PART, partType(name.type, name.id), given);
    return result.part;
  }

  #initial(): unknown {
    const { name, loop, seen } = this.#params;
    const { id } = name;
    const { output } = loop;
    const state = checked({ id, output }, loop.state(seen as never));
    return parseFrozen(this.#textOf(state, 'before its first turn'));
  }

  #continues(turn: number, state: unknown): boolean {
    const { name, loop, seen } = this.#params;
    const continues: unknown = loop.while({ ...seen, state, turn } as never);
    if (typeof continues === 'boolean') return continues;
    const what = continues instanceof Promise ? 'a promise' : typeof continues;
    throw new Fatal(`'while' of the loop '${name.id}' must return true or false, not ${what}`);
  }

  #turn(turn: number, state: unknown): Promise<unknown> {
    const { loop, flow, seen, turn: options } = this.#params;
    const body = async (context: object) => {
      const returned = await loop.body({ ...context, ...seen, state, turn } as never);
      this.#textOf(isDegraded(returned) ? returned.value : returned, `after turn ${turn}`);
      return returned;
    };
    return flow.step(TURN, body as never, options as never);
  }

  /** @throws CairnError PAYLOAD_TOO_LARGE, INVALID_INPUT */
  #textOf(state: unknown, when: string): string {
    const what = `the state of the loop '${this.#params.name.id}' ${when}`;
    const text = toJsonText(state, what);
    assertFits(text, what, MAX_STATE_BYTES);
    return text;
  }

  #tooMany(): Error {
    const { name, loop } = this.#params;
    const message = `the loop '${name.id}' is not over after its ${loop.max} turns ('max')`;
    return new OperationFailed(numberedName(TURN, loop.max), 'LOOP_LIMIT_REACHED', message);
  }
}

function assertMax(name: StepName, { max, compensate }: UncheckedOptions): void {
  const most = compensate === undefined ? MAX_TURNS : MAX_TURNS_IN_A_RUN;
  if (Number.isSafeInteger(max) && (max as number) >= 1 && (max as number) <= most) return;
  const why = compensate === undefined ? '' : `, because a loop with 'compensate' stays in its run`;
  throw stepError(name, `'max' must be an integer from 1 to ${most}${why}; for example max: 100`);
}

function assertPause(name: StepName, pause: unknown): void {
  if (pause === undefined || typeof pause === 'function') return;
  if (typeof pause !== 'string' && typeof pause !== 'number') {
    throw stepError(
      name,
      `'pause' is a duration, such as '12h', or a function of the state that returns one`,
    );
  }
  durationOf(name, 'pause', pause);
}

function only(options: UncheckedOptions, names: readonly string[]): UncheckedOptions {
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}
