/**
 * Commands of deletion: `gc`, `runs retention`, `runs hold`, `runs release`; and erasures, which ignore retention times:
 * `runs erase`, `tenants erase`, `erasures list`, `erasures show`. A scheduled job does the deletion.
 */
import type { Answer } from 'cairn/api/calls';
import { command } from '../arguments/command.ts';
import { moment } from '../render/time.ts';
import { clean } from '../render/width.ts';
import { erasuresTable, expiredTable, retentionText } from '../views/retention.ts';
import { DEFAULT_LISTED, limitOption, noteMore, noteUnreadable } from './listed.ts';
import { REASON, runCommand } from './runs/named.ts';

const MAX_LISTED = 5_000;

export const gc = command({
  name: 'gc',
  summary: 'List expired runs: which will be deleted next, and why others are kept',
  details: 'Changes nothing, with or without --dry-run: a scheduled function deletes, lineage by lineage.',
  options: {
    'dry-run': { type: 'flag', help: 'the default; it never deletes' },
    limit: limitOption({ most: MAX_LISTED }),
  },
  examples: [['gc --dry-run', 'before a legal hold is released or a retention time shortened']],
  async run({ api, out, notes }, { options: { limit = DEFAULT_LISTED } }) {
    const found = await api.list('/v1/retention', { limit });
    out.answer(found, (shape) => expiredTable(found.items, api.now(), shape));
    if (found.items.length === 0 && !out.json) notes.print('No run has expired.\n');
    noteMore({ out, notes }, found.more);
  },
});

export const readRetention = runCommand({
  name: 'runs retention',
  summary: 'Show how long a run is kept, and why',
  examples: [['runs retention last', 'when it expires, and what keeps it']],
  async run({ api, out }, id) {
    const params = { id };
    const retention = await api.get('/v1/runs/{id}/retention', { params });
    out.answer(retention, (shape) => retentionText(retention, api.now(), shape));
  },
});

export const holdRun = runCommand({
  name: 'runs hold',
  summary: 'Put a run and its lineage on legal hold',
  options: {
    reason: {
      ...REASON,
      help: 'reason, e.g. a case number',
      required: 'a legal hold requires a reason',
    },
  },
  mutates: true,
  examples: [['runs hold last --reason "case 4711"', 'until runs release']],
  async run({ api, out }, id, { options }) {
    const held = await api.change('POST', '/v1/runs/{id}/hold', { params: { id }, body: options });
    const { by, at, reason: first } = held.legalHold;
    out.answer(held, () => `${held.runId} on hold since ${moment(at)} by ${clean(by)}: ${clean(first)}\n`);
  },
});

export const releaseRun = runCommand({
  name: 'runs release',
  summary: 'Release a legal hold',
  mutates: true,
  examples: [['runs release last', 'the run is deleted when it expires']],
  async run({ api, out }, id) {
    const params = { id };
    const released = await api.change('POST', '/v1/runs/{id}/release-hold', { params });
    out.answer(released, () => `${released.runId} released\n`);
  },
});

const CONFIRM = { type: 'text', value: 'ID', help: 'the same id again' } as const;

export const eraseRun = command({
  name: 'runs erase',
  summary: 'Erase an ended run with its lineage and children; cannot be undone',
  args: { run: { help: 'id of the run, in full' } },
  options: { confirm: { ...CONFIRM, required: 'repeat the id of the run' } },
  mutates: true,
  examples: [['runs erase RUN --confirm RUN', 'hidden at once, deleted within an hour']],
  async run({ api, out }, { args: { run: id }, options }) {
    const erasure = await api.change('POST', '/v1/runs/{id}/erase', { params: { id }, body: options });
    out.answer(erasure, () => erasureText(erasure));
  },
});

export const eraseTenant = command({
  name: 'tenants erase',
  summary: 'Erase the runs, schedules, records and events of a tenant; cannot be undone',
  args: { tenant: { help: 'id of the tenant' } },
  options: { confirm: { ...CONFIRM, required: 'repeat the id of the tenant' } },
  mutates: true,
  examples: [['tenants erase acme --confirm acme', 'after revoking its keys and cancelling its live runs']],
  async run({ api, out }, { args: { tenant }, options: { confirm } }) {
    const erasure = await api.change('POST', '/v1/erasures', { body: { tenantId: tenant, confirm } });
    out.answer(erasure, () => erasureText(erasure));
  },
});

export const listErasures = command({
  name: 'erasures list',
  summary: 'List erasures, newest first: who asked, and what is gone',
  options: { limit: limitOption({ most: MAX_LISTED }) },
  examples: [['erasures list', 'with the role installation those of all tenants']],
  async run({ api, out, notes }, { options: { limit = DEFAULT_LISTED } }) {
    const found = await api.list('/v1/erasures', { limit });
    out.answer(found, (shape) => erasuresTable(found.items, api.now(), shape));
    const { items, unreadable = [] } = found;
    noteUnreadable({ out, notes }, unreadable, () => 'its document is damaged: restore it from a backup');
    if (items.length + unreadable.length === 0 && !out.json) notes.print('Nothing was erased on request.\n');
    noteMore({ out, notes }, found.more);
  },
});

export const showErasure = command({
  name: 'erasures show',
  summary: 'Show the progress of an erasure',
  args: { erasure: { help: 'its id' } },
  examples: [['erasures show ERASURE', 'state and deleted documents']],
  async run({ api, out }, { args: { erasure: id } }) {
    const erasure = await api.get('/v1/erasures/{id}', { params: { id } });
    out.answer(erasure, () => erasureText(erasure));
  },
});

function erasureText({ id, state, keptBy, gone }: Answer<'Erasure'>): string {
  const counts = Object.entries(gone).map(([kind, count]) => `${kind} ${count}`);
  const keeper = keptBy ? `kept by ${clean(keptBy.runId)}: ${keptBy.why}\n` : '';
  return `${id} ${state}\n${keeper}deleted: ${counts.join(', ')}\n`;
}
