import { describe, expect, test } from '@jest/globals';
import { AUTOMATIC_INDEXES } from '../../../packages/local-firestore/src/model/index/index-config.ts';
import { normaliseQuery } from '../../../packages/local-firestore/src/model/query/normalise.ts';
import type { Comparison } from '../../../packages/local-firestore/src/model/query/query.ts';
import { parseDocument } from '../../../packages/local-firestore/src/model/resource-name.ts';
import { Code } from '../../../packages/local-firestore/src/model/status.ts';
import type { Write } from '../../../packages/local-firestore/src/model/write.ts';
import { readQuery } from '../../../packages/local-firestore/src/service/query-read.ts';
import { TransactionalStore } from '../../../packages/local-firestore/src/service/transactional-store.ts';
import type { Transaction } from '../../../packages/local-firestore/src/service/transactions/transactions.ts';
import { openSqliteStorage } from '../../../packages/local-firestore/src/storage/sqlite-storage.ts';
import { decodeDocument } from '../../../packages/local-firestore/src/wire/document-codec.ts';

const DATABASE = 'projects/p/databases/d';
const LOCK_TIMEOUT_MS = 1_000;
/** Event-loop turns after which everything has settled; a commit is durable after one. */
const TURNS = 6;

/**
 * A script is a list of [step, steps that it settles]. A step is `actor verb argument`. Transactions are numbered in the order in which
 * they begin; `p` and `q` are plain writers. A step that is not in its own list waits.
 */
type Script = readonly (readonly [string, readonly string[]])[];

const scripts: Record<string, Script> = {
  'readers share': [
    ['1 read a', ['1 read a: 0']],
    ['2 read a', ['2 read a: 0']],
    ['1 commit -', ['1 commit -: ok']],
    ['2 commit -', ['2 commit -: ok']],
  ],
  'a plain write waits for a reader': [
    ['1 read a', ['1 read a: 0']],
    ['p write a=5', []],
    ['1 commit -', ['1 commit -: ok', 'p write a=5: ok']],
  ],
  'a plain write of another document does not': [
    ['1 read a', ['1 read a: 0']],
    ['p write b=5', ['p write b=5: ok']],
  ],
  'a rollback releases the waiting writer': [
    ['1 read a', ['1 read a: 0']],
    ['p write a=5', []],
    ['1 rollback', ['1 rollback: ok', 'p write a=5: ok']],
  ],
  'a lock on a missing document keeps it missing': [
    ['1 read z', ['1 read z: missing']],
    ['p write z=1', []],
    ['1 read z', ['1 read z: missing']],
    ['1 commit -', ['1 commit -: ok', 'p write z=1: ok']],
  ],
  'the only reader upgrades': [
    ['1 read a', ['1 read a: 0']],
    ['1 commit a=1', ['1 commit a=1: ok']],
  ],
  'of two that read and then write, the younger is refused': [
    ['1 read a', ['1 read a: 0']],
    ['2 read a', ['2 read a: 0']],
    ['1 commit a=1', ['1 commit a=1: ok']],
    ['2 commit a=2', ['2 commit a=2: ABORTED']],
  ],
  'the younger is refused even if it commits first': [
    ['1 read a', ['1 read a: 0']],
    ['2 read a', ['2 read a: 0']],
    ['2 commit a=2', []],
    ['1 commit a=1', ['2 commit a=2: ABORTED', '1 commit a=1: ok']],
  ],
  'an older commit does not wait for a younger reader, but for an older one': [
    ['1 read a', ['1 read a: 0']],
    ['2 read a', ['2 read a: 0']],
    ['3 query <15', ['3 query <15: a,b']],
    ['2 commit a=2', []],
    ['3 commit -', ['3 commit -: ABORTED']],
    ['1 commit -', ['1 commit -: ok', '2 commit a=2: ok']],
  ],
  'a plain write waits for an older reader that locks a second document later': [
    ['1 read a', ['1 read a: 0']],
    ['p write a=5', []],
    ['1 read b', ['1 read b: 10']],
    ['1 commit b=1', ['1 commit b=1: ok', 'p write a=5: ok']],
  ],
  'in a cycle the younger readers are aborted at once': [
    ['1 read a', ['1 read a: 0']],
    ['2 read b', ['2 read b: 10']],
    ['3 read c', ['3 read c: 20']],
    ['3 commit a=1', []],
    ['2 commit c=1', ['3 commit a=1: ABORTED', '2 commit c=1: ok']],
    ['1 commit b=1', ['1 commit b=1: ok']],
  ],
  'crossed reads and writes cause no write skew': [
    ['1 read a', ['1 read a: 0']],
    ['1 read b', ['1 read b: 10']],
    ['2 read a', ['2 read a: 0']],
    ['2 read b', ['2 read b: 10']],
    ['1 commit a=1', ['1 commit a=1: ok']],
    ['2 commit b=1', ['2 commit b=1: ABORTED']],
  ],
  'an aborted transaction fails at its next step': [
    ['1 read a', ['1 read a: 0']],
    ['2 read a', ['2 read a: 0']],
    ['2 commit a=2', []],
    ['1 commit a=1', ['2 commit a=2: ABORTED', '1 commit a=1: ok']],
    ['2 read b', ['2 read b: ABORTED']],
  ],
  'a retry of an aborted transaction keeps its age': [
    ['1 read a', ['1 read a: 0']],
    ['2 read a', ['2 read a: 0']],
    ['3 read c', ['3 read c: 20']],
    ['1 commit a=1', ['1 commit a=1: ok']],
    ['2 commit a=2', ['2 commit a=2: ABORTED']],
    ['2 retry', ['2 retry: ok']],
    ['2 read c', ['2 read c: 20']],
    ['2 commit c=2', ['2 commit c=2: ok']],
    ['3 commit c=3', ['3 commit c=3: ABORTED']],
  ],
  'a younger reader queues behind a waiting writer, an older one passes': [
    ['1 begin', ['1 begin: ok']],
    ['2 read a', ['2 read a: 0']],
    ['p write a=5', []],
    ['1 read a', ['1 read a: 0']],
    ['3 read a', []],
    ['1 commit -', ['1 commit -: ok']],
    // A client gets the answer only once the data that was read is durable; this test sees it earlier.
    ['2 commit -', ['3 read a: 5', '2 commit -: ok', 'p write a=5: ok']],
  ],
  'writers proceed in the order of arrival': [
    ['1 read a', ['1 read a: 0']],
    ['p write a=5', []],
    ['q write a=6', []],
    ['1 commit -', ['1 commit -: ok', 'p write a=5: ok', 'q write a=6: ok']],
    ['2 read a', ['2 read a: 6']],
  ],
  'a write that adds a document to a query waits for its reader': [
    ['1 query <15', ['1 query <15: a,b']],
    ['p write n=3', []],
    ['1 query <15', ['1 query <15: a,b']],
    ['1 commit -', ['1 commit -: ok', 'p write n=3: ok']],
  ],
  'a write that removes a document from a query, by a change or a deletion, waits for its reader': [
    ['1 query <15', ['1 query <15: a,b']],
    ['p write b=99', []],
    ['q delete a', []],
    ['1 commit -', ['1 commit -: ok', 'p write b=99: ok', 'q delete a: ok']],
  ],
  'a write outside the range of a query does not wait': [
    ['1 query <15', ['1 query <15: a,b']],
    ['p write n=30', ['p write n=30: ok']],
    ['q write c=16', ['q write c=16: ok']],
  ],
  'a write into an empty range waits for its reader': [
    ['1 query >50', ['1 query >50: ']],
    ['p write n=60', []],
    ['1 commit -', ['1 commit -: ok', 'p write n=60: ok']],
  ],
  'a query with a limit locks the range that it has read': [
    ['1 first 2', ['1 first 2: a,b']],
    ['p write c=21', ['p write c=21: ok']],
    ['q write n=5', []],
    ['1 commit -', ['1 commit -: ok', 'q write n=5: ok']],
  ],
  'two transactions that each count and then add do not both succeed': [
    ['1 query <15', ['1 query <15: a,b']],
    ['2 query <15', ['2 query <15: a,b']],
    ['1 commit x=1', ['1 commit x=1: ok']],
    ['2 commit y=2', ['2 commit y=2: ABORTED']],
  ],
  'a commit that fails its precondition waits for no query and ends its transaction': [
    ['1 query <15', ['1 query <15: a,b']],
    ['p create c=1', ['p create c=1: ALREADY_EXISTS']],
  ],
  'a transaction that waits too long is aborted and loses its locks': [
    ['1 read a', ['1 read a: 0']],
    ['2 read b', ['2 read b: 10']],
    ['2 commit a=1', []],
    ['p write b=1', []],
    ['+1000', ['2 commit a=1: ABORTED', 'p write b=1: ok']],
  ],
  'an idle transaction ends after 60 seconds': [
    ['1 read a', ['1 read a: 0']],
    ['+59999', []],
    ['p write a=5', []],
    ['+1', ['p write a=5: ok']],
    ['1 commit -', ['1 commit -: INVALID_ARGUMENT']],
  ],
  'a busy transaction ends after 270 seconds': [
    ['1 read a', ['1 read a: 0']],
    ...Array.from(
      { length: 5 },
      () =>
        [
          ['+50000', []],
          ['1 read a', ['1 read a: 0']],
        ] as const,
    ).flat(),
    ['+20000', []],
    ['1 read a', ['1 read a: INVALID_ARGUMENT']],
  ],
  'a read-only transaction locks nothing, and all its reads see one moment': [
    ['1 readonly', ['1 readonly: ok']],
    ['p write a=5', ['p write a=5: ok']],
    ['q delete b', ['q delete b: ok']],
    ['p write n=1', ['p write n=1: ok']],
    ['1 read a', ['1 read a: 0']],
    ['1 query <15', ['1 query <15: a,b']],
    ['2 query <15', ['2 query <15: n,a']],
    ['1 commit -', ['1 commit -: ok']],
  ],
};

describe('locks', () => {
  test.each(Object.entries(scripts))('%s', async (_name, script) => {
    const stage = new Stage();
    await stage.prepare();
    for (const [step, settled] of script) {
      expect({ step, settled: await stage.play(step) }).toEqual({ step, settled });
    }
    stage.store.storage.close();
  });
});

/** Plays scripts on a store in memory with its own clock. Documents a, b, c have the values 0, 10, 20. */
class Stage {
  #now = 1_000_000;
  readonly store: TransactionalStore;
  readonly #transactions = new Map<string, Transaction>();
  #settled: string[] = [];

  constructor() {
    this.store = new TransactionalStore({
      storage: openSqliteStorage(undefined),
      clock: () => this.#now,
      indexes: AUTOMATIC_INDEXES,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
    });
  }

  async prepare(): Promise<void> {
    const writes = ['a=0', 'b=10', 'c=20'].map((w) => toWrite('write', w));
    await this.store.commit(this.#database(), writes, undefined);
  }

  async play(step: string): Promise<string[]> {
    this.#settled = [];
    if (step.startsWith('+')) {
      this.#now += Number(step);
      this.store.sweep();
    } else {
      this.#start(step);
    }
    for (let i = 0; i < TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
    return this.#settled;
  }

  #start(step: string): void {
    const [who, verb, argument] = step.split(' ') as [string, string, string];
    const note = (outcome: string) => this.#settled.push(`${step}: ${outcome}`);
    Promise.try(() => this.#act(who, verb, argument)).then(note, (error) => note(nameOf(error.code)));
  }

  async #act(who: string, verb: string, argument: string): Promise<string> {
    const plain = who === 'p' || who === 'q';
    const transaction = plain ? undefined : this.#transaction(who, verb);
    switch (verb) {
      case 'read': {
        const name = nameFor(argument);
        const { segments } = parseDocument(name);
        const read = () => this.#database().get({ name, segments }, transaction?.snapshot);
        const stored = await this.store.read(transaction, [name], read);
        return stored ? String(storedValue(stored.body)) : 'missing';
      }
      case 'query':
        return this.#query(transaction, comparison(argument), undefined);
      case 'first':
        return this.#query(transaction, undefined, Number(argument));
      case 'commit':
      case 'write':
      case 'create':
      case 'delete': {
        const writes = argument === '-' ? [] : [toWrite(verb, argument)];
        await this.store.commit(this.#database(), writes, transaction);
        return 'ok';
      }
      case 'rollback':
        this.store.rollback((transaction as Transaction).id, DATABASE);
        return 'ok';
      default:
        return 'ok';
    }
  }

  async #query(
    transaction: Transaction | undefined,
    filter: Comparison | undefined,
    limit: number | undefined,
  ) {
    const query = normaliseQuery({
      scope: { database: DATABASE, parent: [], collectionId: 'c', allDescendants: false },
      filter,
      orders: [{ field: ['v'], descending: false }],
      startAt: undefined,
      endAt: undefined,
      offset: 0,
      limit,
      required: [],
      select: undefined,
    });
    const { found } = await readQuery(this.store, { transaction, snapshot: transaction?.snapshot }, query);
    return found.map((f) => f.name.split('/').at(-1)).join();
  }

  #transaction(who: string, verb: string): Transaction {
    const known = this.#transactions.get(who);
    if (known && verb !== 'retry') return this.store.transactions.get(known.id, DATABASE);
    const begun = this.store.begin(
      DATABASE,
      verb === 'readonly' ? { kind: 'readOnly' } : { kind: 'readWrite', retryOf: known?.id },
    );
    this.#transactions.set(who, begun);
    return begun;
  }

  #database() {
    return this.store.databases.get(DATABASE);
  }
}

function nameFor(id: string): string {
  return `${DATABASE}/documents/c/${id}`;
}

function toWrite(verb: string, text: string): Write {
  const [id, value] = text.split('=') as [string, string];
  const name = nameFor(id);
  const resource = parseDocument(name);
  if (verb === 'delete') return { kind: 'delete', name, resource, precondition: { kind: 'none' } };
  return {
    kind: 'set',
    name,
    resource,
    fields: new Map([['v', { kind: 'integer', value: BigInt(value) }]]),
    mask: undefined,
    transforms: [],
    precondition: verb === 'create' ? { kind: 'exists', exists: false } : { kind: 'none' },
    body: undefined,
  };
}

function comparison(text: string): Comparison {
  const op = text[0] as '<' | '>';
  return { kind: 'compare', field: ['v'], op, value: { kind: 'integer', value: BigInt(text.slice(1)) } };
}

function storedValue(body: Uint8Array): bigint | undefined {
  const value = decodeDocument(body).fields.get('v');
  return value?.kind === 'integer' ? value.value : undefined;
}

function nameOf(code: number): string {
  return Object.entries(Code).find(([, c]) => c === code)?.[0] ?? String(code);
}
