/** The reference: the operations of a tree as plain functions, without time, faults or durability. */
import { Failed, type Operations, runTree, worth } from './run-tree.ts';
import type { Tree } from './tree.ts';

export interface Prediction {
  readonly value?: number;
  /** Code of the error that the code ends with. */
  readonly failsWith?: string;
  /** The places from which the code acted externally. */
  readonly acted: ReadonlySet<string>;
  readonly operations: number;
}

export async function predict(tree: Tree): Promise<Prediction> {
  const acted = new Set<string>();
  let operations = 0;
  const counted = <T>(value: T, failure?: string): Promise<T> => {
    operations += 1;
    return failure === undefined ? Promise.resolve(value) : Promise.reject(new Failed(failure));
  };
  const plain: Operations = {
    step: ({ ends }, at) => counted(worth(at), ends === 'fails' ? 'STEP_FAILED' : undefined),
    perform: (at) => {
      acted.add(at);
      return counted(worth(at));
    },
    sleep: () => counted(undefined),
    event: (_, at) => counted(worth(at)),
    approval: ({ isApproved }, at) => counted(worth(at), isApproved ? undefined : 'APPROVAL_REJECTED'),
    child: ({ fails }, at) => counted(worth(at), fails ? 'CHILD_FAILED' : undefined),
    map: async ({ items }, at) => {
      operations += items;
      return Array.from({ length: items }, (_, i) => worth(`${at}#${i}`));
    },
    codeOf: (error) => (error as Failed).code,
  };
  try {
    const value = await runTree(tree, plain);
    return { value, acted, operations };
  } catch (error) {
    return { failsWith: (error as Failed).code, acted, operations };
  }
}
