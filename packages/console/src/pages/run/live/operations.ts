/**
 * Operations of a flow, by the keys of their steps: `flow[poll]`, `flow[poll.2]`, `flow[send[0]]`. Operations with the same
 * given name are its turns. Pure.
 *
 * The names follow `packages/cairn/src/core/flow/names.ts`.
 */
import { stepIdOf } from './events.ts';

/** Names of operations begin with a letter; items of maps and of children are numbers. */
export function isOperation(key: string): boolean {
  return /^[A-Za-z]/.test(itemOf(key));
}

/** The part in brackets; empty for a step of the plan. */
function itemOf(key: string): string {
  const id = stepIdOf(key);
  return key.slice(id.length + 1, -1);
}

/** Name in the code of the flow, without number and index: `send` for `flow[send.2[0]]`. */
export function givenName(key: string): string {
  return stepIdOf(itemOf(key)).replace(/\.\d+$/, '');
}

/** Text of a key below its step: operations without the id of their flow. */
export function itemText(key: string): string {
  return isOperation(key) ? itemOf(key) : key;
}

/** Key of the turns that an operation belongs to: `flow[poll]`. */
export function turnsKey(key: string): string {
  return `${stepIdOf(key)}[${givenName(key)}]`;
}

export interface Turns {
  /** See {@link turnsKey}. */
  readonly key: string;
  readonly name: string;
  /** Keys of the operations, in their order. */
  readonly members: readonly string[];
}

/** The operations by their given names, in the order in which each name occurs first. */
export function turnsOf(keys: readonly string[]): readonly Turns[] {
  return [...Map.groupBy(keys, turnsKey)].map(([key, members]) => ({ key, name: givenName(key), members }));
}
