/** After the database was restored: `restore show`, `begin`, `release`. */
import type { Answer } from 'cairn/api/calls';
import { command } from '../../arguments/command.ts';
import { PLAIN_CALL } from '../../invocation.ts';
import { moment } from '../../render/time.ts';
import { clean } from '../../render/width.ts';

/**
 * Instances cache the configuration for up to 3 s. After this time no dispatch begins; a running one stops at its next heartbeat.
 */
const KNOWN_AFTER_MS = 4_000;

export const showRestore = command({
  name: 'restore show',
  summary: 'Show whether the installation is paused after a restore',
  examples: [['restore show', 'the database in use, and since when it is paused']],
  async run({ api, out }) {
    const restore = await api.get('/v1/restore');
    out.answer(restore, ({ call }) => `${clean(restore.home)}: ${textOf(restore, call)}\n`);
  },
});

export const beginRestore = command({
  name: 'restore begin',
  summary: 'Declare that the database was restored, and pause the runs of every tenant',
  details:
    'An installation notices by itself that its database is a copy from elsewhere. Run this after an import into the same database. Starts, answers and events are still accepted, and wait. The command returns when every instance knows of it.',
  mutates: true,
  examples: [['restore begin', 'before the queue is resumed']],
  async run({ api, out, world }) {
    const restore = await api.change('POST', '/v1/restore/begin', { body: {} });
    await world.sleep(KNOWN_AFTER_MS);
    out.answer(restore, ({ call }) => `${textOf(restore, call)}\n`);
  },
});

export const releaseRestore = command({
  name: 'restore release',
  summary: 'Release the runs after a restore; actions they may have repeated become questions',
  mutates: true,
  examples: [['restore release', 'the questions are in the inbox: cairn inbox']],
  async run({ api, out }) {
    const restore = await api.change('POST', '/v1/restore/release', { body: {} });
    out.answer(restore, ({ call }) => `${textOf(restore, call)}, ${restore.woken} runs were woken\n`);
  },
});

function textOf({ held, restoredAt, by }: Answer<'Restore'>, call = PLAIN_CALL): string {
  if (restoredAt === undefined) return held ? 'a copy from elsewhere, paused' : 'never restored';
  const what = `restored at ${moment(restoredAt)} (${clean(by ?? '')})`;
  return held ? `${what}, paused: no run moves until ${call} restore release` : `${what}, released`;
}
