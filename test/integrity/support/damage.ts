/** Damage of one document, drawn at random: lost, cut, a member changed, or exchanged with another. */
import { Timestamp } from '@google-cloud/firestore';
import type { Members } from '../../../packages/cairn/src/store/codec/kinds.ts';
import type { Draw } from '../../programs/data/draw.ts';
import type { Folder, Shelf } from './shelf.ts';

const KINDS = ['delete', 'truncate', 'change', 'remove', 'swap', 'copy'] as const;
type Kind = (typeof KINDS)[number];

export interface Damage {
  readonly kind: Kind;
  readonly folder: Folder;
  readonly id: string;
  /** Description of the change. */
  readonly what: string;
}

/** Undefined if what was drawn leaves the documents as they are. */
export function damage(shelf: Shelf, draw: Draw): Damage | undefined {
  const folder = draw.pick(['runs', 'events', 'events', 'checkpoints', 'steps'] as const);
  const ids = [...shelf.folders[folder].keys()];
  if (ids.length === 0) return undefined;
  const id = draw.pick(ids);
  const kind = draw.pick(KINDS);
  const what = APPLY[kind](shelf, { folder, id, ids, draw });
  return what === undefined ? undefined : { kind, folder, id, what };
}

interface Target {
  readonly folder: Folder;
  readonly id: string;
  readonly ids: readonly string[];
  readonly draw: Draw;
}

const APPLY: { readonly [K in Kind]: (shelf: Shelf, target: Target) => string | undefined } = {
  delete(shelf, { folder, id }) {
    shelf.delete(folder, id);
    return 'the whole document';
  },
  truncate(shelf, { folder, id, draw }) {
    const texts = Object.entries(shelf.members(folder, id)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
    );
    const [name, text] = draw.pick(texts);
    shelf.change(folder, id, { [name]: text.slice(0, draw.below(text.length)) });
    return name;
  },
  change(shelf, { folder, id, draw }) {
    const members = shelf.members(folder, id);
    const name = draw.pick(Object.keys(members));
    shelf.change(folder, id, { [name]: other(members[name], draw) });
    return name;
  },
  remove(shelf, { folder, id, draw }) {
    const name = draw.pick(Object.keys(shelf.members(folder, id)));
    shelf.change(folder, id, { [name]: undefined });
    return name;
  },
  swap(shelf, { folder, id, ids, draw }) {
    const with_ = draw.pick(ids);
    if (with_ === id) return undefined;
    const [here, there] = [shelf.members(folder, id), shelf.members(folder, with_)];
    shelf.put(folder, id, there);
    shelf.put(folder, with_, here);
    return with_;
  },
  copy(shelf, { folder, id, ids, draw }) {
    const from = draw.pick(ids);
    if (from === id) return undefined;
    shelf.put(folder, id, shelf.members(folder, from));
    return from;
  },
};

/** A value that is not this one: of its kind most of the time. */
function other(value: unknown, draw: Draw): unknown {
  if (draw.chance(0.15)) return draw.pick([null, 0, '', [], {}, true, 'x', 1.5, new Date(0).toISOString()]);
  switch (typeof value) {
    case 'string':
      return otherText(value, draw);
    case 'number':
      return value + draw.pick([-1, 1, 1_000, -value - 1, 1e9]);
    case 'boolean':
      return !value;
    default:
      if (value instanceof Timestamp)
        return Timestamp.fromMillis(value.toMillis() + draw.pick([-1, 1, 3_600_000, 4e11]));
      return typeof value === 'object' && value !== null ? otherMap(value as Members, draw) : 'x';
  }
}

function otherText(text: string, draw: Draw): string {
  const at = draw.below(text.length + 1);
  return draw.pick([
    `${text}x`,
    `${text.slice(0, at)}${text.slice(at + 1)}`,
    `${text.slice(0, at)}7${text.slice(at + 1)}`,
    ` ${text}`,
    text.replace(/\d/, '8'),
    text.replace(/true|false|null/, '1'),
    draw.pick(['running', 'completed', 'failed', 'step', 'succeeded', '{}', '[]', 'null']),
  ]);
}

function otherMap(members: Members, draw: Draw): Members {
  const names = Object.keys(members);
  if (names.length === 0) return { x: 1 };
  const name = draw.pick(names);
  return { ...members, [name]: other(members[name], draw) };
}
