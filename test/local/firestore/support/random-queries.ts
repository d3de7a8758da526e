/** Random documents and queries from a seed, over so few values that queries have results. */
import { type Firestore, GeoPoint, Timestamp } from '@google-cloud/firestore';
import { generator } from '../../../../packages/local-firestore/src/seeded.ts';
import {
  type Condition,
  completeOrders,
  type Doc,
  inequalityFields,
  NAME,
  type Op,
  type Question,
  read,
} from './brute-force.ts';

export class Chooser {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = generator(seed);
  }

  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  some<T>(list: readonly T[], most: number): T[] {
    return Array.from({ length: 1 + this.below(most) }, () => this.of(list));
  }
}

export const FIELDS = ['a', 'b', 'm.x'] as const;

export function scalars(db: Firestore): unknown[] {
  return [
    null,
    false,
    true,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    -1,
    -0.5,
    0,
    1,
    1.5,
    2,
    3,
    2 ** 53 - 1,
    2 ** 60,
    new Timestamp(-5, 0),
    new Timestamp(5, 1000_000),
    '',
    'a',
    'a\u0000',
    'ab',
    'b',
    '\uffff',
    '🎉',
    Buffer.from([]),
    Buffer.from([0]),
    Buffer.from([0, 1]),
    Buffer.from([255]),
    db.doc('c/d1'),
    db.doc('c/d1/c/d2'),
    new GeoPoint(1, 2),
    new GeoPoint(1, -2),
    [],
    [1],
    [1, 'a'],
    [1, 2],
    {},
    { k: 1 },
    { k: 1, l: null },
    { a: 2 },
  ];
}

/** Numbers and short strings are frequent, so that equalities and ranges meet. */
function value(choose: Chooser, all: readonly unknown[]): unknown {
  if (choose.chance(0.5)) return choose.below(4);
  if (choose.chance(0.3)) return Array.from({ length: choose.below(4) }, () => choose.below(4));
  return choose.of(all);
}

export function randomDocs(choose: Chooser, db: Firestore, count: number): Doc[] {
  const all = scalars(db);
  const parents = ['c', 'c/d1/c', 'c/d1/other', 'c/d10/c', 'x/y/c'];
  const docs = new Map<string, Doc>();
  while (docs.size < count) {
    const data: Record<string, unknown> = {};
    for (const field of ['a', 'b']) if (choose.chance(0.85)) data[field] = value(choose, all);
    if (choose.chance(0.85)) data.m = { x: value(choose, all) };
    if (choose.chance(0.1)) data.m = value(choose, all);
    const path = `${choose.chance(0.6) ? 'c' : choose.of(parents)}/d${choose.below(count)}`;
    docs.set(path, { path, data });
  }
  return [...docs.values()];
}

const INEQUALITIES: readonly Op[] = ['<', '<=', '>', '>=', '!='];

export function randomQuestion(choose: Chooser, db: Firestore, docs: readonly Doc[]): Question {
  const where = choose.chance(0.85) ? condition(choose, scalars(db)) : undefined;
  const orderBy = choose.chance(0.6) ? beforeName(orders(choose), where) : [];
  const base = { where, orderBy, start: undefined, end: undefined, offset: 0, limit: undefined };
  const keys = completeOrders(base);
  const cursor = () => {
    const doc = choose.of(docs);
    const depth = 1 + choose.below(orderBy.length);
    const values = keys.slice(0, depth).map((k) => read(doc, k.field));
    return values.some((v) => typeof v === 'symbol') ? undefined : { values, inclusive: choose.chance(0.5) };
  };
  const withCursors = orderBy.length > 0 && choose.chance(0.5);
  return {
    ...base,
    start: withCursors && choose.chance(0.7) ? cursor() : undefined,
    end: withCursors && choose.chance(0.5) ? cursor() : undefined,
    offset: choose.chance(0.2) ? choose.below(4) : 0,
    limit: choose.chance(0.5) ? 1 + choose.below(6) : undefined,
  };
}

/** Removes the order by name if an implied order by an inequality field would follow it, because such a query is refused. */
function beforeName(given: Question['orderBy'], where: Condition | undefined): Question['orderBy'] {
  const isOrdered = (field: string) => given.some((o) => o.field === field);
  return inequalityFields(where).every(isOrdered) ? given : given.filter((o) => o.field !== NAME);
}

function orders(choose: Chooser): Question['orderBy'] {
  const fields = [...new Set(choose.some([...FIELDS, NAME], 2))];
  const end = fields.indexOf(NAME);
  const kept = end < 0 ? fields : fields.slice(0, end + 1);
  return kept.map((field) => ({ field, descending: choose.chance(0.4) }));
}

function condition(choose: Chooser, all: readonly unknown[]): Condition {
  const leaf = () => comparison(choose, all, ['==', ...INEQUALITIES, 'in', 'array-contains']);
  const shape = choose.below(10);
  if (shape < 4)
    return comparison(choose, all, [
      '==',
      ...INEQUALITIES,
      'in',
      'not-in',
      'array-contains',
      'array-contains-any',
    ]);
  if (shape < 8) return { all: Array.from({ length: 2 }, leaf) };
  if (shape < 9) return { any: Array.from({ length: 2 }, leaf) };
  return { all: [comparison(choose, all, ['==', '>', '<=']), { any: Array.from({ length: 2 }, leaf) }] };
}

function comparison(choose: Chooser, all: readonly unknown[], ops: readonly Op[]): Condition {
  const op = choose.of(ops);
  const field = choose.of(FIELDS);
  const one = () => value(choose, all);
  if (op === 'in' || op === 'not-in' || op === 'array-contains-any') {
    return { field, op, value: Array.from({ length: 1 + choose.below(3) }, one) };
  }
  const operand = one();
  // The client sends every filter on null or NaN except == as "is not", so only these two can be used with them.
  const alone = operand === null || Number.isNaN(operand);
  return { field, op: alone && op !== '==' ? '!=' : op, value: operand };
}
