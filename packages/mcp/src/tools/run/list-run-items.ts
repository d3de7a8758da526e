/** Pages of the steps, effects, events, log lines or waits of a run. */
import type { CairnClient } from '@cairn/client';
import { z } from 'zod';
import { CURSOR, DEFAULT_LISTED, LIMIT, RUN_ID } from '../arguments.ts';
import { completePage, counted } from '../pages.ts';
import { read } from '../tool.ts';

interface ItemQuery {
  readonly params: { readonly id: string };
  readonly query: { readonly limit: number; readonly cursor: string | undefined };
}

interface ItemPage {
  readonly items: readonly object[];
  readonly next?: string | undefined;
}

const KINDS = {
  steps: (client: CairnClient, asked: ItemQuery): Promise<ItemPage> =>
    client.get('/v1/runs/{id}/steps', asked),
  effects: (client: CairnClient, asked: ItemQuery): Promise<ItemPage> =>
    client.get('/v1/runs/{id}/effects', asked),
  events: (client: CairnClient, asked: ItemQuery): Promise<ItemPage> =>
    client.get('/v1/runs/{id}/events', asked),
  logs: (client: CairnClient, asked: ItemQuery): Promise<ItemPage> => client.get('/v1/runs/{id}/logs', asked),
  waits: openWaits,
} as const;
type ItemKind = keyof typeof KINDS;

const NOUNS: Readonly<Record<ItemKind, string>> = {
  steps: 'step',
  effects: 'effect',
  events: 'event',
  logs: 'line',
  waits: 'open wait',
};

export const listRunItems = read({
  name: 'list_run_items',
  title: 'List the items of a run',
  description:
    'Lists all steps of a run by id, its effects in order, its events or log lines from the oldest on, or its open waits, page by page. Role viewer.',
  input: z.strictObject({
    runId: RUN_ID,
    kind: z.enum(Object.keys(KINDS) as [ItemKind, ...ItemKind[]]),
    limit: LIMIT,
    cursor: CURSOR,
  }),
  run: (client, { runId, kind, limit = DEFAULT_LISTED, cursor }) =>
    completePage(limit, async (size) => {
      const asked = { params: { id: runId }, query: { limit: size, cursor } };
      const { items, next } = await KINDS[kind](client, asked);
      return { text: counted(items.length, NOUNS[kind], next), data: { items, next } };
    }),
});

/** Ordered by id, so that a wait that ends between two pages does not hide another. */
async function openWaits(client: CairnClient, { params, query }: ItemQuery): Promise<ItemPage> {
  const { waits } = await client.get('/v1/runs/{id}', { params });
  const { cursor = '', limit } = query;
  const sorted = waits.filter(({ id }) => id > cursor).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const items = sorted.slice(0, limit);
  return { items, next: items.length < sorted.length ? items.at(-1)?.id : undefined };
}
