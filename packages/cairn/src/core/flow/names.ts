/**
 * Names of the operations of a flow. A repeated name gets a number: `poll`, `poll.2`, `poll.3`. An item of
 * `flow.map` has its index in brackets: `send[0]`, `send.2[0]`.
 */
import { type CairnError, invalidInput } from '../errors.ts';

/** Maximum of operations of one flow, which is that of steps in a run. */
export const MAX_FLOW_OPERATIONS = 10_000;

/** Begins with a letter, because items of a set are numbers. */
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/;
const NUMBERED = /\.\d+$/;

/** Operations of a loop: one for each turn, one for each pause between two turns, and one for each part (parts.ts). */
export const TURN = 'turn';
export const PAUSE = 'pause';
export const PART = 'part';

/** Numbers repeated names in the order of the calls. */
export class OperationNames {
  readonly #times = new Map<string, number>();

  /** @throws CairnError INVALID_INPUT for an invalid name */
  next(name: unknown): string {
    const known = operationName(name);
    const times = (this.#times.get(known) ?? 0) + 1;
    this.#times.set(known, times);
    return numberedName(known, times);
  }

  /** Sets how often the name was used. */
  skip(name: string, times: number): void {
    this.#times.set(name, times);
  }
}

/** @param times 1 for the first operation of the name */
export function numberedName(name: string, times: number): string {
  return times === 1 ? name : `${name}.${times}`;
}

/** Number of an operation among those of its name, from 1; undefined: it has another name. */
export function numberOf(operation: string, name: string): number | undefined {
  if (operation === name) return 1;
  if (!operation.startsWith(`${name}.`)) return undefined;
  const number = operation.slice(name.length + 1);
  return /^[1-9]\d*$/.test(number) ? Number(number) : undefined;
}

/** @throws CairnError INVALID_INPUT */
export function operationName(name: unknown): string {
  if (typeof name !== 'string' || !NAME.test(name)) {
    const what = 'a letter, then up to 99 letters, digits, "_", "." or "-"';
    throw invalid(`the name of an operation is ${what}; not ${shown(name)}`);
  }
  if (NUMBERED.test(name)) {
    throw invalid(`the operation name '${name}' ends with a number, which marks a repeated name`);
  }
  return name;
}

export function itemName(name: string, index: number): string {
  return `${name}[${index}]`;
}

/** The name in the code, without number and index: `send` for `send.2[0]`. */
export function givenName(operation: string): string {
  const bracket = operation.indexOf('[');
  return (bracket < 0 ? operation : operation.slice(0, bracket)).replace(NUMBERED, '');
}

function shown(name: unknown): string {
  return typeof name === 'string' ? `'${name.slice(0, 100)}'` : typeof name;
}

function invalid(message: string): CairnError {
  return invalidInput('name', message, {
    help: 'Give each operation a name that says what it does, such as flow.step("charge", …).',
  });
}
