/**
 * Runs a tree over given operations: those of a flow, or the plain functions of the reference without durability. Both run this
 * same code.
 */
import type { Tree } from './tree.ts';

/** The error of an operation, in the same form from both. */
export class Failed extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

export interface Operations {
  step(tree: Extract<Tree, { kind: 'step' }>, at: string): Promise<number>;
  perform(at: string): Promise<number>;
  sleep(tree: Extract<Tree, { kind: 'sleep' }>): Promise<void>;
  event(tree: Extract<Tree, { kind: 'event' }>, at: string): Promise<number>;
  approval(tree: Extract<Tree, { kind: 'approval' }>, at: string): Promise<number>;
  child(tree: Extract<Tree, { kind: 'child' }>, at: string): Promise<number>;
  map(tree: Extract<Tree, { kind: 'map' }>, at: string): Promise<readonly number[]>;
  codeOf(error: unknown): string;
}

/** The value of an operation, equal in all runs. */
export function worth(at: string): number {
  let sum = 7;
  for (const char of at) sum = (sum * 31 + char.charCodeAt(0)) % 1_009;
  return sum;
}

/** @returns a number that depends on every answer and its place, but not on the order in time */
export function runTree(tree: Tree, operations: Operations): Promise<number> {
  return run(tree, '', 1);

  /** @param at position of the code in loops: the same operation of another turn is another operation */
  async function run(tree: Tree, at: string, before: number): Promise<number> {
    switch (tree.kind) {
      case 'sequence': {
        let known = before;
        for (const part of tree.parts) known = mixed(known, await run(part, at, known));
        return known;
      }
      case 'all': {
        // The order of several failures depends on timing, so the first in the tree counts.
        const all = await Promise.allSettled(tree.parts.map((part) => run(part, at, before)));
        const failed = all.find((one) => one.status === 'rejected');
        if (failed) throw failed.reason;
        return all.map((one) => (one as PromiseFulfilledResult<number>).value).reduce(mixed, before);
      }
      case 'loop': {
        let known = before;
        for (let turn = 0; turn < tree.times; turn += 1) {
          known = mixed(known, await run(tree.body, `${at}/${turn}`, known));
        }
        return known;
      }
      case 'branch':
        return run(before % 2 === 0 ? tree.even : tree.otherwise, at, before);
      case 'try':
        try {
          return await run(tree.body, at, before);
        } catch (error) {
          return mixed(worth(operations.codeOf(error)), await run(tree.otherwise, at, before));
        }
      case 'throw':
        throw new Failed('THROWN');
      case 'step':
        return operations.step(tree, tree.path + at);
      case 'perform':
        return operations.perform(tree.path + at);
      case 'sleep':
        await operations.sleep(tree);
        return 1;
      case 'event':
        return operations.event(tree, tree.path + at);
      case 'approval':
        return operations.approval(tree, tree.path + at);
      case 'child':
        return operations.child(tree, tree.path + at);
      case 'map':
        return (await operations.map(tree, tree.path + at)).reduce(mixed, before);
    }
  }
}

export function mixed(a: number, b: number): number {
  return (a * 17 + b) % 100_003;
}
